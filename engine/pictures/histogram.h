// Draws the histogram of a search's map beside the one that noise would give.
#pragma once

#include <string>
#include <vector>

#include "engine/numerics/maps.h"
#include "engine/numerics/peaks.h"
#include "engine/pictures/picture_context.h"

namespace engine {

// Returns the bytes of a PNG: the number of pixels of the metric's map in each bin of z, on a
// logarithmic axis, with the curve for noise, the threshold and the peaks. Throws Error when a
// drawing step fails.
std::string histogram_picture(const Maps& maps, const std::vector<Peak>& peaks,
                              const PictureContext& context);

// Returns the expected number of pixels per unit z in the scaled MIP of noise: `pixels` times the
// density of the largest of N independent standard normal values, N phi(z) Phi(z)^(N-1), where N is
// `correlations`, 1 or more (docs/numerics.md, Threshold and peaks).
double noise_density(double z, double pixels, double correlations);

}  // namespace engine
