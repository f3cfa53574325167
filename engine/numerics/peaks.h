// Picks peaks on finished maps (docs/numerics.md, Threshold and peaks). Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/config/config.h"
#include "engine/numerics/maps.h"
#include "engine/numerics/search_grid.h"

namespace engine {

enum class PeakMetric { kScaledMip, kMip };  // kMip for highly symmetric templates

struct PeakOptions {
  PeakMetric metric = PeakMetric::kScaledMip;
  double false_positives = 1.0;  // expected per micrograph
  std::optional<double> cutoff;  // overrides false_positives
  double mask_radius = 5.0;      // pixels; candidates nearer than this are suppressed
};

// The options of a command; empty where they are not given.
struct PeakChoice {
  std::optional<PeakMetric> metric;
  std::optional<double> false_positives;
  std::optional<double> cutoff;
  std::optional<double> mask_radius;  // pixels
};
// Takes each value from `choice`, else from the configuration, else the default.
PeakOptions peak_options(const PeakChoice& choice, const SearchConfig& config);

struct Peak {
  int x = 0, y = 0;  // map coordinates: top-left corner of the template box
  float mip = 0, scaled_mip = 0, mean = 0, sd = 0;
  float phi = 0, theta = 0, psi = 0;  // degrees
  float relative_defocus = 0;         // A
};

inline float score_of(const Peak& peak, PeakMetric metric) {
  return metric == PeakMetric::kMip ? peak.mip : peak.scaled_mip;
}

// Returns the z above which `false_positives` values are expected among `count` = pixels *
// correlations Gaussian values: sqrt(2) * erfcinv(2 * false_positives / count). Throws InputError
// unless 0 < false_positives < count.
double noise_cutoff(double pixels, double correlations, double false_positives);

// Returns the pixels strictly above the cut-off, the highest first, without those that are nearer
// than mask_radius to a higher peak. Of equal pixels the one in the lower row, then column, goes
// first. Where the search had a coarser grid, its pixels are picked and counted, and a peak is at
// the pixel of the micrograph that is nearest. Throws InputError for a mask radius or a cut-off
// that is out of range.
std::vector<Peak> find_peaks(const Maps& maps, const PeakOptions& options,
                             const std::optional<SearchGrid>& grid = std::nullopt);
// Returns the cut-off that find_peaks() uses. Throws InputError.
double peak_cutoff(const Maps& maps, const PeakOptions& options,
                   const std::optional<SearchGrid>& grid = std::nullopt);

}  // namespace engine
