// Measures what a search loses by running on a coarser grid, from some of its units correlated on
// both grids (docs/numerics.md, Fourier cropping).
#pragma once

#include <cstdint>
#include <string>

#include "engine/numerics/search_grid.h"
#include "engine/numerics/statistics.h"

namespace engine {

struct CropError {
  int64_t units = 0;  // in the sample
  // The difference between the two MIPs where a pixel of one grid lies on one of the other, in
  // standard deviations of the noise.
  double rms = 0;
  double largest = 0;
  // How much lower the highest peaks of the micrograph's own grid are in the other, whose pixels
  // lie farther apart: a share of their height, in the mean.
  int64_t peaks = 0;
  double lower = 0;
  double lower_most = 0;  // of the peak that loses most
};

// Compares accumulators from the same units, on the micrograph's own grid and on `grid`; `units` is
// their number.
CropError crop_error(const Accumulators& whole, const Accumulators& cropped, const SearchGrid& grid,
                     int64_t units);

// Returns a sentence for people: "fourier_crop: ...".
std::string describe_crop_error(const CropError& error);

}  // namespace engine
