// Crops the spectra of a search to the frequencies of a coarser grid (docs/numerics.md, Fourier
// cropping). Half planes have rows 0 .. n/2-1, -n/2 .. -1 and columns 0 .. n/2. Pure functions.
#pragma once

#include <complex>
#include <vector>

#include "engine/numerics/preprocess.h"
#include "engine/numerics/search_grid.h"

namespace engine {

// Returns the middle of the filtered micrograph, of these sides, scaled so that noise in it
// correlates to the same deviation. Its filters are left empty.
PreparedImage middle_of(const PreparedImage& image, int height, int width);

// Returns the spectrum of the micrograph on `grid`, height x (width/2+1), scaled so that a
// correlation keeps its value. Where the grid needs it, the filtered micrograph is padded with
// zeros first.
std::vector<std::complex<float>> crop_image_spectrum(const PreparedImage& image,
                                                     const SearchGrid& grid);

// Returns to x to x (to/2+1) values of a volume_spectrum() of side `of`.
std::vector<std::complex<float>> crop_volume_spectrum(
    const std::vector<std::complex<float>>& spectrum, int of, int to);

// Returns to x (to/2+1) values of a filter of side `of`.
std::vector<std::complex<float>> crop_filter(const std::vector<std::complex<float>>& filter, int of,
                                             int to);

}  // namespace engine
