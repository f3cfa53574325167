// The image's tiles as the fused path multiplies with them. Done once, on the CPU, in double.
#pragma once

#include <complex>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cuda/tiling.h"

namespace engine::cuda {

// Which frequency each index of a stored spectrum holds (FftOrder::stored_frequency), how many
// columns lie side by side, and by what it is divided.
struct StoredOrder {
  std::vector<int> rows;     // as many as the tile has
  std::vector<int> columns;  // likewise
  int columns_in_chunk = 1;
  double gain = 1;  // of the transforms that will use it, to be divided out
};

class TileSpectra {
 public:
  // Both must outlive it.
  TileSpectra(const Problem& problem, const Tiling& tiling, StoredOrder order);

  // [chunk of columns][row][column in chunk].
  std::vector<std::complex<float>> spectrum(const TilePlace& place) const;

  // What the template is multiplied by before its transform.
  double template_scale() const { return template_scale_; }

 private:
  Image tile(const TilePlace& place) const;

  const Tiling& tiling_;
  StoredOrder order_;
  int height_, width_;
  double gain_;
  double template_scale_;
  std::vector<double> pixels_;  // of noise: unit deviation, within a factor of 2
};

}  // namespace engine::cuda
