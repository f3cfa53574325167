// PNG pictures for people, by Cairo: axes, scale bar, legible text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/io/image.h"
#include "engine/numerics/maps.h"
#include "engine/numerics/peaks.h"

namespace engine {

struct PictureContext {
  std::string micrograph_name;  // shown in titles
  double pixel_size = 1.0;      // A
  int template_size = 0;        // pixels
  double cutoff = 0.0;          // of the metric
  PeakMetric metric = PeakMetric::kScaledMip;
};

// Writes micrograph_peaks.png, scaled_mip.png and z_histogram.png into `directory` (atomically);
// returns (name, path) of each.
std::vector<std::pair<std::string, std::string>> write_pictures(const std::string& directory,
                                                                const Image& micrograph,
                                                                const Maps& maps,
                                                                const std::vector<Peak>& peaks,
                                                                const PictureContext& context);

// Expected number of pixels per unit z in the scaled MIP of noise: pixels times
// N phi(z) Phi(z)^(N-1), N correlations (engine.md).
double noise_density(double z, double pixels, double correlations);

}  // namespace engine
