#include "engine/numerics/search_grid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

namespace engine {
namespace {

constexpr double kWorthIt = 0.9;        // of the pixels
constexpr double kAboutAsCheap = 1.03;  // times the cheapest
// Every so many pixels of the micrograph at most, one of the search lies on one of them, where the
// error of the cropping can be measured.
constexpr int kMostApart = 64;

bool has_small_factors(int n) {
  for (const int factor : {2, 3, 5, 7}) {
    while (n % factor == 0) n /= factor;
  }
  return n == 1;
}

double pixels(const SearchGrid& grid) { return static_cast<double>(grid.height) * grid.width; }

SearchGrid grid_of(int height, int width, int size, int cropped_size) {
  const int shared = std::gcd(size, cropped_size);
  SearchGrid grid = grid_of_sides(height, width, cropped_size / shared, size / shared);
  grid.template_size = cropped_size;
  return grid;
}

bool changes_frequencies(const FrequencyTransform& t) {
  return t.yy != 1 || t.yx != 0 || t.xy != 0 || t.xx != 1;
}

// Returns by how much the transform stretches a frequency at most: its largest singular value.
double largest_stretch(const FrequencyTransform& t) {
  const double first = t.yy * t.yy + t.yx * t.yx;
  const double second = t.xy * t.xy + t.xx * t.xx;
  const double product = t.yy * t.xy + t.yx * t.xx;
  return std::sqrt((first + second) / 2 + std::hypot((first - second) / 2, product));
}

constexpr std::array kImages = {
    &Maps::mip, &Maps::scaled_mip, &Maps::mean, &Maps::sd,
    &Maps::psi, &Maps::theta,      &Maps::phi,  &Maps::relative_defocus};

// from(pixel) is the pixel of `maps` whose values a pixel of the result takes, along one axis.
template <typename From>
Maps resampled(const Maps& maps, int height, int width, const From& from) {
  Maps out;
  out.height = height;
  out.width = width;
  out.total_orientations = maps.total_orientations;
  out.total_defocus = maps.total_defocus;
  out.total_correlations = maps.total_correlations;
  for (const auto image : kImages) {
    Image& to = out.*image;
    to = Image(height, width);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) to.at(y, x) = (maps.*image).at(from(y), from(x));
    }
  }
  return out;
}

}  // namespace

SearchGrid grid_of_sides(int height, int width, int to, int of) {
  SearchGrid grid{.to = to, .of = of};
  // Twice, so that both sides are even.
  const int multiple = 2 * of;
  const auto padded = [&](int side) { return (side + multiple - 1) / multiple * multiple; };
  grid.padded_height = padded(height);
  grid.padded_width = padded(width);
  grid.height = grid.padded_height / of * to;
  grid.width = grid.padded_width / of * to;
  return grid;
}

std::optional<double> resolution_limit(const BandpassFilter& bandpass) {
  const double limit = bandpass.high_freq_cutoff + bandpass.falloff;
  return bandpass.enabled && limit < 0.5 ? std::optional(limit) : std::nullopt;
}

std::optional<SearchGrid> choose_search_grid(int height, int width, int template_size, double limit,
                                             const FrequencyTransform& magnification) {
  // A slice is interpolated between the samples on both sides of a frequency, and with a
  // magnification matrix between samples that have been interpolated themselves.
  const double beyond = changes_frequencies(magnification) ? 1 + std::numbers::sqrt2 : 1;
  const double highest =
      limit * std::max(1.0, largest_stretch(magnification)) * template_size + beyond;
  std::vector<SearchGrid> grids;
  double fewest = kWorthIt * height * width;
  for (int size = 2; size < template_size; size += 2) {
    if (size < 2 * highest || !has_small_factors(size)) continue;
    const SearchGrid grid = grid_of(height, width, template_size, size);
    if (grid.of > kMostApart || pixels(grid) > kWorthIt * height * width) continue;
    grids.push_back(grid);
    fewest = std::min(fewest, pixels(grid));
  }
  // A large common factor keeps the sides as good for transforms as they were.
  std::optional<SearchGrid> best;
  for (const SearchGrid& grid : grids) {
    const bool is_cheap = pixels(grid) <= kAboutAsCheap * fewest;
    if (is_cheap && (!best || grid.of < best->of)) best = grid;
  }
  return best;
}

std::optional<SearchGrid> search_grid_of(const SearchConfig& config, int height, int width,
                                         int template_size) {
  if (!config.fourier_crop) return std::nullopt;
  const std::optional<double> limit = resolution_limit(config.filters.bandpass);
  if (!limit) return std::nullopt;
  return choose_search_grid(height, width, template_size, *limit,
                            frequency_transform(config.optics));
}

SearchGrid grid_of_sample(const SearchGrid& grid, int height, int width) {
  constexpr int kUsual = 1024;
  const int template_size = grid.template_size / grid.to * grid.of;
  // The template's side is such a multiple itself.
  const int multiple = 2 * grid.of;
  const int wanted = std::max(kUsual, 2 * template_size) / multiple * multiple;
  const auto side = [&](int whole) { return std::min(wanted, whole / multiple * multiple); };
  SearchGrid part = grid_of_sides(side(height), side(width), grid.to, grid.of);
  part.template_size = grid.template_size;
  return part;
}

Maps on_micrograph(const Maps& maps, const SearchGrid& grid, int height, int width) {
  return resampled(maps, height, width, [&](int pixel) { return grid.nearest(pixel); });
}

Maps on_search_grid(const Maps& maps, const SearchGrid& grid) {
  return resampled(maps, grid.pixels_within(maps.height), grid.pixels_within(maps.width),
                   [&](int pixel) { return grid.pixel_of(pixel); });
}

}  // namespace engine
