// What a search will take, in words for people, which `plan` prints, and `match` before it starts.
#pragma once

#include <optional>
#include <string>

#include "engine/search/device.h"
#include "engine/search/search.h"

namespace engine {

// Describes counts and memory. `shape` is that of the micrograph; `grid` is search_grid_of().
std::string describe_plan(const SearchConfig& config, const SearchSpace& space,
                          const ProblemShape& shape, const std::optional<SearchGrid>& grid,
                          const DevicePlan& device);
// Returns why `fourier_crop` has no effect where the configuration asks for it; empty where it has
// one, or is not asked for.
std::string crop_note(const SearchConfig& config, const std::optional<SearchGrid>& grid);

}  // namespace engine
