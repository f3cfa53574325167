// Prepares the spectra and filters that the search multiplies (docs/numerics.md, The micrograph),
// once per search and on the CPU.
#pragma once

#include <complex>
#include <vector>

#include "engine/config/config.h"
#include "engine/io/image.h"
#include "engine/io/volume.h"
#include "engine/numerics/whitening.h"

namespace engine {

// The micrograph, ready to be correlated, and the filter for the template that its spectrum
// defines.
struct PreparedImage {
  int height = 0;
  int width = 0;
  // height x (width/2+1), [0] = 0, sum of |I|^2 over the full plane = height * width.
  std::vector<std::complex<double>> spectrum;
  std::vector<double> image_filter;     // height x (width/2+1): whitening x bandpass x curve
  std::vector<double> template_filter;  // n x (n/2+1): the same curves on the template's grid
  WhiteningCurve whitening;             // empty when disabled
};

// Both sides of `micrograph` must be even. Throws InputError when the filters leave nothing of it.
PreparedImage prepare_image(const Image& micrograph, int template_size,
                            const PreprocessingFilters& filters);

// Returns the template's spectrum, n x n x (n/2+1), with z and y shifted so that zero frequency is
// at [n/2][n/2][0], and phases relative to the voxel (n/2, n/2, n/2). The template is not padded,
// and there is no gridding correction.
std::vector<std::complex<float>> volume_spectrum(const Volume& volume);

// Returns CTF x template filter for each defocus plane (A, relative), n x (n/2+1) in half-plane
// order. `template_filter` is PreparedImage::template_filter.
std::vector<std::vector<std::complex<float>>> projective_filters(
    const OpticsGroup& optics, const std::vector<float>& planes, int template_size,
    const std::vector<double>& template_filter);

}  // namespace engine
