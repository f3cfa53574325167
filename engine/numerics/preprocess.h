// Turns pixels into what the search multiplies (docs/numerics.md, The micrograph). Done once, on
// the CPU.
#pragma once

#include <complex>
#include <vector>

#include "engine/config/config.h"
#include "engine/io/image.h"
#include "engine/io/volume.h"
#include "engine/numerics/whitening.h"

namespace engine {

// The micrograph ready to be correlated, and the filter that its spectrum defines on the template.
struct PreparedImage {
  int height = 0;
  int width = 0;
  // height x (width/2+1), [0] = 0, sum of |I|^2 over the full plane = height * width.
  std::vector<std::complex<double>> spectrum;
  std::vector<double> image_filter;     // height x (width/2+1): whitening x bandpass x curve
  std::vector<double> template_filter;  // n x (n/2+1): the same from the same image spectrum
  WhiteningCurve whitening;             // empty when disabled
};

// Throws InputError when the filters leave nothing of the micrograph. Both sides must be even.
PreparedImage prepare_image(const Image& micrograph, int template_size,
                            const PreprocessingFilters& filters);

// Spectrum of the template, n x n x (n/2+1), z and y shifted so that zero frequency is at
// [n/2][n/2][0], phases relative to the voxel (n/2, n/2, n/2). Unpadded, no gridding correction.
std::vector<std::complex<float>> volume_spectrum(const Volume& volume);

// CTF x template filter per defocus plane (A, relative), n x (n/2+1) each, half-plane order;
// `template_filter` is PreparedImage's.
std::vector<std::vector<std::complex<float>>> projective_filters(
    const OpticsGroup& optics, const std::vector<float>& planes, int template_size,
    const std::vector<double>& template_filter);

}  // namespace engine
