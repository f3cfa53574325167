#include "engine/numerics/fourier_crop.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/huge_pages.h"
#include "engine/numerics/fft.h"

namespace engine {
namespace {

// The row of a half plane of `of` rows that has the frequency of row `row` of `to`.
int row_in(int row, int to, int of) { return row < to / 2 ? row : row - to + of; }

size_t index(int row, int column, int width) {
  return static_cast<size_t>(row) * (static_cast<size_t>(width) / 2 + 1) +
         static_cast<size_t>(column);
}

using Spectrum = std::vector<std::complex<double>>;

// Forward transform of height x width pixels, the first of which is (row, column) of the image;
// those beyond the image are 0. A correlation is scaled by the pixels of the image, so that more of
// them call for smaller values.
Spectrum spectrum_of(const PreparedImage& image, int height, int width, int row, int column) {
  const std::vector<double> pixels = inverse_2d(image.spectrum, image.height, image.width);
  const double before = static_cast<double>(image.height) * image.width;
  // Noise has a deviation of about 1 in the float32 from which it is transformed.
  const double larger = std::sqrt(before);
  Image window(height, width);
  for (int y = 0; y < std::min(height, image.height - row); ++y) {
    const double* from = &pixels[static_cast<size_t>(y + row) * static_cast<size_t>(image.width)];
    for (int x = 0; x < std::min(width, image.width - column); ++x) {
      window.at(y, x) = static_cast<float>(from[x + column] * larger);
    }
  }
  Spectrum spectrum = forward_2d(window);
  const double scale = 1 / std::sqrt(static_cast<double>(height) * width);
  for (std::complex<double>& value : spectrum) value *= scale;
  spectrum[0] = 0;
  return spectrum;
}

}  // namespace

PreparedImage middle_of(const PreparedImage& image, int height, int width) {
  PreparedImage middle;
  middle.height = height;
  middle.width = width;
  middle.spectrum =
      spectrum_of(image, height, width, (image.height - height) / 2, (image.width - width) / 2);
  return middle;
}

std::vector<std::complex<float>> crop_image_spectrum(const PreparedImage& image,
                                                     const SearchGrid& grid) {
  const bool padded = grid.padded_height != image.height || grid.padded_width != image.width;
  const Spectrum own =
      padded ? spectrum_of(image, grid.padded_height, grid.padded_width, 0, 0) : Spectrum();
  const Spectrum& spectrum = padded ? own : image.spectrum;
  std::vector<std::complex<float>> out(index(grid.height, 0, grid.width));
  for (int row = 0; row < grid.height; ++row) {
    // At the highest frequencies of the grid two of the micrograph would fall on one sample.
    if (row == grid.height / 2) continue;
    const std::complex<double>* from =
        &spectrum[index(row_in(row, grid.height, grid.padded_height), 0, grid.padded_width)];
    std::transform(from, from + grid.width / 2, &out[index(row, 0, grid.width)],
                   [](const std::complex<double>& value) { return std::complex<float>(value); });
  }
  return out;
}

std::vector<std::complex<float>> crop_volume_spectrum(
    const std::vector<std::complex<float>>& spectrum, int of, int to) {
  // Zero frequency is in the middle of z and y.
  const int first = (of - to) / 2;
  const size_t plane = index(of, 0, of);
  std::vector<std::complex<float>> out;
  base::resize_in_huge_pages(out, index(to, 0, to) * static_cast<size_t>(to));
  auto end = out.begin();
  for (int z = first; z < first + to; ++z) {
    for (int y = first; y < first + to; ++y) {
      const auto row = spectrum.begin() + static_cast<std::ptrdiff_t>(
                                              static_cast<size_t>(z) * plane + index(y, 0, of));
      end = std::copy_n(row, to / 2 + 1, end);
    }
  }
  return out;
}

std::vector<std::complex<float>> crop_filter(const std::vector<std::complex<float>>& filter, int of,
                                             int to) {
  std::vector<std::complex<float>> out;
  out.reserve(index(to, 0, to));
  for (int row = 0; row < to; ++row) {
    const auto begin =
        filter.begin() + static_cast<std::ptrdiff_t>(index(row_in(row, to, of), 0, of));
    out.insert(out.end(), begin, begin + to / 2 + 1);
  }
  return out;
}

}  // namespace engine
