// The facts that all pictures of a search need.
#pragma once

#include <optional>
#include <string>

#include "engine/numerics/peaks.h"

namespace engine {

struct PictureContext {
  std::string micrograph_name;                           // shown in titles; any bytes
  double pixel_size = 1.0;                               // A
  int template_size = 0;                                 // pixels along one side
  std::optional<double> particle_radius = std::nullopt;  // A; not known: half the template
  double cutoff = 0.0;  // value of `metric` above which a pixel can be a peak
  PeakMetric metric = PeakMetric::kScaledMip;
};

}  // namespace engine
