// Peak picking on finished maps (docs/numerics.md, Threshold and peaks). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/config/config.h"
#include "engine/numerics/maps.h"

namespace engine {

enum class PeakMetric { kScaledMip, kMip };  // kMip for highly symmetric templates

struct PeakOptions {
  PeakMetric metric = PeakMetric::kScaledMip;
  double false_positives = 1.0;  // expected per micrograph
  std::optional<double> cutoff;  // overrides false_positives
  double mask_radius = 5.0;      // pixels; candidates nearer than this are suppressed
};

// What the options of a command say.
struct PeakChoice {
  std::optional<PeakMetric> metric;
  std::optional<double> false_positives;
  std::optional<double> cutoff;
  std::optional<double> mask_radius;  // pixels
};
// What `choice` leaves open is as the configuration says or, where it says nothing, the default.
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

// z with `false_positives` expected among pixels * correlations Gaussian values:
// sqrt(2) * erfcinv(2 * false_positives / count), count = pixels of the map * correlations. Throws
// InputError unless 0 < false_positives < count.
double noise_cutoff(double pixels, double correlations, double false_positives);

// Pixels strictly above the cut-off, descending, greedy suppression at distance < mask_radius. Ties
// are broken by the lower row, then the lower column.
std::vector<Peak> find_peaks(const Maps& maps, const PeakOptions& options);
// The cut-off that find_peaks uses.
double peak_cutoff(const Maps& maps, const PeakOptions& options);

}  // namespace engine
