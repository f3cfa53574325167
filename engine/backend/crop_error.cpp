#include "engine/backend/crop_error.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace engine {
namespace {

// The highest in a hundred local maxima, which are peaks rather than noise; at most so many.
constexpr size_t kOfMaxima = 100;
constexpr size_t kPeaks = 1000;

double mip_at(const Accumulators& a, int row, int column) {
  const size_t at =
      static_cast<size_t>(row) * static_cast<size_t>(a.width) + static_cast<size_t>(column);
  return static_cast<double>(best_value(a.best[at]));
}

struct Place {
  int row, column;
  double mip;
};

// The largest MIP of the pixels in these rows and columns, which are within the map.
double largest_within(const Accumulators& a, int first_row, int last_row, int first_column,
                      int last_column) {
  double largest = mip_at(a, first_row, first_column);
  for (int y = first_row; y <= last_row; ++y) {
    for (int x = first_column; x <= last_column; ++x) largest = std::max(largest, mip_at(a, y, x));
  }
  return largest;
}

// The largest MIP of the pixels of `cropped` between which a pixel of the other grid lies.
double largest_around(const Accumulators& cropped, const SearchGrid& grid, const Place& place) {
  const auto below = [&](int pixel) { return pixel * grid.to / grid.of; };
  const auto above = [&](int pixel, int pixels) {
    return std::min((pixel * grid.to + grid.of - 1) / grid.of, pixels - 1);
  };
  return largest_within(cropped, below(place.row), above(place.row, cropped.height),
                        below(place.column), above(place.column, cropped.width));
}

std::vector<Place> highest_peaks(const Accumulators& a) {
  std::vector<Place> peaks;
  for (int y = 1; y + 1 < a.height; ++y) {
    for (int x = 1; x + 1 < a.width; ++x) {
      const double mip = mip_at(a, y, x);
      if (mip >= largest_within(a, y - 1, y + 1, x - 1, x + 1)) peaks.push_back({y, x, mip});
    }
  }
  const auto higher = [](const Place& one, const Place& other) { return one.mip > other.mip; };
  const size_t kept = std::min((peaks.size() + kOfMaxima - 1) / kOfMaxima, kPeaks);
  std::partial_sort(peaks.begin(), peaks.begin() + static_cast<std::ptrdiff_t>(kept), peaks.end(),
                    higher);
  peaks.resize(kept);
  return peaks;
}

}  // namespace

CropError crop_error(const Accumulators& whole, const Accumulators& cropped, const SearchGrid& grid,
                     int64_t units) {
  CropError error{.units = units};
  double squares = 0;
  int64_t shared = 0;
  for (int y = 0; y * grid.of < whole.height; ++y) {
    for (int x = 0; x * grid.of < whole.width; ++x) {
      const double difference = std::abs(mip_at(cropped, y * grid.to, x * grid.to) -
                                         mip_at(whole, y * grid.of, x * grid.of));
      squares += difference * difference;
      error.largest = std::max(error.largest, difference);
      ++shared;
    }
  }
  error.rms = std::sqrt(squares / static_cast<double>(shared));
  double high = 0, found = 0;
  for (const Place& peak : highest_peaks(whole)) {
    const double there = largest_around(cropped, grid, peak);
    high += peak.mip;
    found += there;
    if (peak.mip > 0) error.lower_most = std::max(error.lower_most, 1 - there / peak.mip);
    ++error.peaks;
  }
  if (high > 0) error.lower = 1 - found / high;
  return error;
}

std::string describe_crop_error(const CropError& error) {
  char numbers[384];
  std::snprintf(
      numbers, sizeof numbers,
      "over %lld units of this search, in the middle of the micrograph, the MIP differs by "
      "%.2g rms and %.2g at most, in deviations of the noise, where both grids have a "
      "pixel; its highest peaks (%lld) are %.1f %% lower in the mean and %.0f %% at most, as "
      "pixels lie farther apart: weak particles can be missed",
      static_cast<long long>(error.units), error.rms, error.largest,
      static_cast<long long>(error.peaks), 100 * error.lower, 100 * error.lower_most);
  return std::string("fourier_crop: ") + numbers;
}

}  // namespace engine
