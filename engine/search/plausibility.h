// Finds settings that are allowed, but are most likely slips or in another unit. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "engine/config/config.h"

namespace engine {

// Returns a sentence for each such setting, which names its key.
std::vector<std::string> implausible_settings(const SearchConfig& config);

}  // namespace engine
