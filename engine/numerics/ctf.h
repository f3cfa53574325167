// The contrast transfer function on the template's frequency grid (docs/numerics.md, CTF). Pure
// functions.
#pragma once

#include <complex>
#include <vector>

#include "engine/config/config.h"

namespace engine {

// Returns the relativistic electron wavelength in A; `voltage` is in kV.
double electron_wavelength(double voltage);

// Returns the CTF, n x (n/2+1) in half-plane order (rows 0 .. n/2-1, -n/2 .. -1; columns 0 .. n/2).
// Underfocus is positive, CTF(0) = +amplitude contrast, and `relative_defocus` is in A. The
// imaginary part is 0 without odd Zernikes.
std::vector<std::complex<double>> ctf(const OpticsGroup& optics, double relative_defocus, int n);

// The inverse transpose of the magnification matrix (rows: y, x), or the identity when there is
// none. It takes a frequency (fy, fx) of the image to its place in the undistorted plane.
struct FrequencyTransform {
  double yy = 1, yx = 0, xy = 0, xx = 1;
  double determinant = 1;  // of the magnification matrix
};
FrequencyTransform frequency_transform(const OpticsGroup& optics);

}  // namespace engine
