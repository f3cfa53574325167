#include "engine/cuda/tile_spectra.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/fft.h"

namespace engine::cuda {
namespace {

double power_of_two_near(double value) { return std::exp2(std::round(std::log2(value))); }

}  // namespace

// The backend's spectrum has unit variance at every frequency and its projections have the norm
// 1 / sqrt(pixels), for a transform that is not normalised: sqrt(pixels) makes both of them 1.
// Divided by the tile's points, as the two transforms of the tile ask for, the spectrum of a tile
// of such noise is 1 / sqrt(points) at every frequency; sqrt(columns) more, and the columns come
// back near 1.
TileSpectra::TileSpectra(const Problem& problem, const Tiling& tiling, StoredOrder order)
    : tiling_(tiling),
      order_(std::move(order)),
      height_(problem.height),
      width_(problem.width),
      template_scale_(
          power_of_two_near(std::sqrt(static_cast<double>(problem.height) * problem.width))),
      spectrum_gain_(power_of_two_near(std::sqrt(tiling.columns.length))) {
  std::vector<std::complex<double>> spectrum(problem.image_spectrum.begin(),
                                             problem.image_spectrum.end());
  pixels_ = inverse_2d(std::move(spectrum), height_, width_);
  const double scale = static_cast<double>(height_) * width_ / template_scale_;
  for (double& pixel : pixels_) pixel *= scale;
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
  const double gain = spectrum_gain_ / (static_cast<double>(rows) * static_cast<double>(columns));
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
