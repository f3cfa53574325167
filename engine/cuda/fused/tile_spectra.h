// Makes the spectra of the image's tiles for the fused path, once, on the CPU and in double.
#pragma once

#include <complex>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cuda/tiling.h"

namespace engine::cuda {

// The frequency at each index of a stored spectrum (FftOrder::stored_frequency), the columns of a
// chunk, and the gain by which the spectrum is divided.
struct StoredOrder {
  std::vector<int> rows;     // one for each row of the tile
  std::vector<int> columns;  // one for each column of the tile
  int columns_in_chunk = 1;
  double gain = 1;  // of the transforms that use the spectrum
};

class TileSpectra {
 public:
  // `tiling` must outlive this object.
  TileSpectra(const Problem& problem, const Tiling& tiling, StoredOrder order);

  // Returns the spectrum as [chunk of columns][row][column in chunk].
  std::vector<std::complex<float>> spectrum(const TilePlace& place) const;

  // The factor by which the template must be multiplied before its transform.
  double template_scale() const { return template_scale_; }

 private:
  Image tile(const TilePlace& place) const;

  const Tiling& tiling_;
  StoredOrder order_;
  int height_, width_;
  double gain_;
  double template_scale_;
  std::vector<double> pixels_;  // of the image; noise has unit deviation within a factor of 2
};

}  // namespace engine::cuda
