// Settings that are allowed and most likely a slip, or in another unit. Pure.
#pragma once

#include <string>
#include <vector>

#include "engine/config/config.h"

namespace engine {

// A sentence for each, which names the key.
std::vector<std::string> implausible_settings(const SearchConfig& config);

}  // namespace engine
