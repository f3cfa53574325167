#include "engine/cuda/fused/tile_spectra.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/numerics/fft.h"

namespace engine::cuda {
namespace {

double power_of_two_near(double value) { return std::exp2(std::round(std::log2(value))); }

}  // namespace

// The backend's spectrum has unit variance at every frequency and its projections have the norm
// 1 / sqrt(pixels), for a transform that is not normalised: with sqrt(pixels) both are 1. Divided
// by the tile's points, as the two transforms of the tile ask for, such a tile's spectrum is 1 /
// sqrt(points) at every frequency, and a transformed row of the template 1 / sqrt(n). The gain
// brings the two together, so that fp16 loses nothing to their small range; all factors are powers
// of two.
TileSpectra::TileSpectra(const Problem& problem, const Tiling& tiling, StoredOrder order)
    : tiling_(tiling),
      order_(std::move(order)),
      height_(problem.height),
      width_(problem.width),
      gain_(power_of_two_near(
          std::sqrt(std::sqrt(static_cast<double>(tiling.rows.length) * tiling.columns.length) /
                    std::sqrt(problem.template_size)))) {
  const double pixels = static_cast<double>(height_) * width_;
  const double root = power_of_two_near(std::sqrt(pixels));
  template_scale_ = root / gain_;
  std::vector<std::complex<double>> spectrum(problem.image_spectrum.begin(),
                                             problem.image_spectrum.end());
  pixels_ = inverse_2d(std::move(spectrum), height_, width_);
  for (double& pixel : pixels_) pixel *= pixels / root;
}

Image TileSpectra::tile(const TilePlace& place) const {
  Image tile(tiling_.rows.length, tiling_.columns.length);
  const int rows = std::min(tile.height, height_ - place.row);
  const int columns = std::min(tile.width, width_ - place.column);
  for (int row = 0; row < rows; ++row) {
    const double* from = pixels_.data() +
                         static_cast<size_t>(place.row + row) * static_cast<size_t>(width_) +
                         static_cast<size_t>(place.column);
    std::transform(from, from + columns, &tile.at(row, 0),
                   [](double pixel) { return static_cast<float>(pixel); });
  }
  return tile;
}

std::vector<std::complex<float>> TileSpectra::spectrum(const TilePlace& place) const {
  const std::vector<std::complex<double>> half = forward_2d(tile(place));
  const size_t rows = order_.rows.size();
  const size_t columns = order_.columns.size();
  const size_t half_columns = columns / 2 + 1;
  const auto in_chunk = static_cast<size_t>(order_.columns_in_chunk);
  const double gain =
      gain_ / (static_cast<double>(rows) * static_cast<double>(columns)) / order_.gain;
  const auto at = [&](size_t y, size_t x) {
    return x < half_columns ? half[y * half_columns + x]
                            : std::conj(half[(rows - y) % rows * half_columns + columns - x]);
  };
  std::vector<std::complex<float>> out(rows * columns);
  size_t index = 0;
  for (size_t chunk = 0; chunk < columns; chunk += in_chunk) {
    for (const int y : order_.rows) {
      for (size_t column = chunk; column < chunk + in_chunk; ++column) {
        const auto x = static_cast<size_t>(order_.columns[column]);
        out[index++] = std::complex<float>(at(static_cast<size_t>(y), x) * gain);
      }
    }
  }
  return out;
}

}  // namespace engine::cuda
