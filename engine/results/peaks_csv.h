// Writes Leopard-EM's peak list, character by character as pandas' to_csv does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "engine/numerics/peaks.h"

namespace engine {

// Returns Leopard-EM's unnamed index column followed by the 39 columns that refine_template takes;
// the header alone when there is no peak. `template_size` is nx of the template in pixels: the
// centre of a particle is its peak + nx/2 (docs/numerics.md, Threshold and peaks).
std::string peaks_csv(const std::vector<Peak>& peaks, const SearchConfig& config,
                      int64_t total_correlations, int template_size);

}  // namespace engine
