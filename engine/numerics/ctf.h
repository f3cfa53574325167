// Contrast transfer function on the template's frequency grid (docs/numerics.md, CTF). Pure.
#pragma once

#include <complex>
#include <vector>

#include "engine/config/config.h"

namespace engine {

// Relativistic electron wavelength in A; voltage in kV.
double electron_wavelength(double voltage);

// The CTF, n x (n/2+1), half-plane order (rows 0 .. n/2-1, -n/2 .. -1; columns 0 .. n/2).
// Underfocus positive, CTF(0) = +amplitude contrast. `relative_defocus` in A. The imaginary part is
// 0 without odd Zernikes.
std::vector<std::complex<double>> ctf(const OpticsGroup& optics, double relative_defocus, int n);

// Inverse transpose of the magnification matrix (rows: y, x), identity when there is none: where a
// frequency (fy, fx) of the image is found in the undistorted plane.
struct FrequencyTransform {
  double yy = 1, yx = 0, xy = 0, xx = 1;
  double determinant = 1;  // of the magnification matrix
};
FrequencyTransform frequency_transform(const OpticsGroup& optics);

}  // namespace engine
