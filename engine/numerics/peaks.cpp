#include "engine/numerics/peaks.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "engine/error.h"

namespace engine {
namespace {

// x with erfc(x) = y for 1e-300 <= y <= 1. Newton's method on log erfc, which is concave and
// falling: from a start right of the root it comes down to it without overshooting, and
// erfc(x) <= exp(-x^2) gives such a start. (Debian has it in Boost alone, which nothing else here
// needs.)
double inverse_erfc(double y) {
  const double target = std::log(y);
  double x = std::sqrt(std::max(0.0, -target));
  for (int step = 0; step < 100; ++step) {
    const double value = std::erfc(x);
    const double slope = -2.0 * std::numbers::inv_sqrtpi * std::exp(-x * x) / value;
    const double next = x - (std::log(value) - target) / slope;
    if (std::abs(next - x) <= 1e-15 * std::max(1.0, x)) return next;
    x = next;
  }
  return x;
}

struct Candidate {
  float value;
  int row, column;
};

// Accepted peaks by cells at least as wide as the mask, so that only a cell and its neighbours can
// hold one that is too near.
class AcceptedPeaks {
 public:
  AcceptedPeaks(int height, int width, double radius)
      : cell_(std::max(8.0, radius)),
        rows_(static_cast<int>(height / cell_) + 1),
        columns_(static_cast<int>(width / cell_) + 1),
        squared_radius_(radius * radius),
        cells_(static_cast<size_t>(rows_) * static_cast<size_t>(columns_)) {}

  bool near(const Candidate& candidate) const {
    const int row = static_cast<int>(candidate.row / cell_);
    const int column = static_cast<int>(candidate.column / cell_);
    for (int r = std::max(0, row - 1); r <= std::min(rows_ - 1, row + 1); ++r) {
      for (int c = std::max(0, column - 1); c <= std::min(columns_ - 1, column + 1); ++c) {
        for (const Candidate& other : cells_[index(r, c)]) {
          if (too_near(candidate, other)) return true;
        }
      }
    }
    return false;
  }

  void add(const Candidate& candidate) {
    cells_[index(static_cast<int>(candidate.row / cell_),
                 static_cast<int>(candidate.column / cell_))]
        .push_back(candidate);
  }

 private:
  size_t index(int row, int column) const {
    return static_cast<size_t>(row) * static_cast<size_t>(columns_) + static_cast<size_t>(column);
  }
  bool too_near(const Candidate& a, const Candidate& b) const {
    const double rows = a.row - b.row;
    const double columns = a.column - b.column;
    return rows * rows + columns * columns < squared_radius_;
  }

  double cell_;
  int rows_, columns_;
  double squared_radius_;
  std::vector<std::vector<Candidate>> cells_;
};

const Image& metric_map(const Maps& maps, PeakMetric metric) {
  return metric == PeakMetric::kMip ? maps.mip : maps.scaled_mip;
}

std::vector<Candidate> candidates_above(const Image& map, double cutoff) {
  std::vector<Candidate> candidates;
  for (int row = 0; row < map.height; ++row) {
    for (int column = 0; column < map.width; ++column) {
      const float value = map.at(row, column);
      if (value > cutoff) candidates.push_back({value, row, column});
    }
  }
  // They were found in the order of rows, then columns: a stable sort keeps it among ties.
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.value > b.value; });
  return candidates;
}

Peak peak_at(const Maps& maps, int row, int column) {
  return Peak{.x = column,
              .y = row,
              .mip = maps.mip.at(row, column),
              .scaled_mip = maps.scaled_mip.at(row, column),
              .mean = maps.mean.at(row, column),
              .sd = maps.sd.at(row, column),
              .phi = maps.phi.at(row, column),
              .theta = maps.theta.at(row, column),
              .psi = maps.psi.at(row, column),
              .relative_defocus = maps.relative_defocus.at(row, column)};
}

double cutoff_of(const Maps& maps, const PeakOptions& options) {
  if (options.cutoff) {
    if (std::isnan(*options.cutoff)) throw InputError("cut-off of the peaks: not a number");
    return *options.cutoff;
  }
  const double pixels = static_cast<double>(metric_map(maps, options.metric).pixels.size());
  return noise_cutoff(pixels, static_cast<double>(maps.total_correlations),
                      options.false_positives);
}

std::vector<Peak> peaks_of(const Maps& maps, const PeakOptions& options) {
  const Image& map = metric_map(maps, options.metric);
  AcceptedPeaks accepted(map.height, map.width, options.mask_radius);
  std::vector<Peak> peaks;
  for (const Candidate& candidate : candidates_above(map, cutoff_of(maps, options))) {
    if (accepted.near(candidate)) continue;
    accepted.add(candidate);
    peaks.push_back(peak_at(maps, candidate.row, candidate.column));
  }
  return peaks;
}

}  // namespace

double noise_cutoff(double pixels, double correlations, double false_positives) {
  const double count = pixels * correlations;
  const double tail = 2.0 * false_positives / count;
  if (!(tail >= 1e-300 && tail < 2.0)) {
    std::ostringstream message;
    message.precision(12);
    message << "--false-positives (peaks.false_positives in the configuration): " << false_positives
            << " per micrograph is out of range; it must be above 0 and below the number of values "
               "searched, "
            << count;
    throw InputError(message.str());
  }
  const double x = tail <= 1.0 ? inverse_erfc(tail) : -inverse_erfc(2.0 - tail);
  return std::numbers::sqrt2 * x;
}

double peak_cutoff(const Maps& maps, const PeakOptions& options,
                   const std::optional<SearchGrid>& grid) {
  return cutoff_of(grid ? on_search_grid(maps, *grid) : maps, options);
}

PeakOptions peak_options(const PeakChoice& choice, const SearchConfig& config) {
  PeakOptions options;
  const PeakSection& section = config.peaks;
  if (section.metric == "mip") options.metric = PeakMetric::kMip;
  options.metric = choice.metric.value_or(options.metric);
  options.false_positives =
      choice.false_positives.value_or(section.false_positives.value_or(options.false_positives));
  options.cutoff = choice.cutoff;
  if (section.particle_radius) {
    options.mask_radius = *section.particle_radius / config.optics.pixel_size;
  }
  options.mask_radius = choice.mask_radius.value_or(options.mask_radius);
  return options;
}

std::vector<Peak> find_peaks(const Maps& maps, const PeakOptions& options,
                             const std::optional<SearchGrid>& grid) {
  if (!(options.mask_radius >= 0.0)) {
    throw InputError("mask radius of the peaks: must be 0 or more pixels, not " +
                     std::to_string(options.mask_radius));
  }
  if (!grid) return peaks_of(maps, options);
  PeakOptions of_search = options;
  of_search.mask_radius *= static_cast<double>(grid->to) / grid->of;
  std::vector<Peak> peaks = peaks_of(on_search_grid(maps, *grid), of_search);
  for (Peak& peak : peaks) {
    peak.x = grid->pixel_of(peak.x);
    peak.y = grid->pixel_of(peak.y);
  }
  return peaks;
}

}  // namespace engine
