// A whole search in this process, as the program does it, without writing anything.
#pragma once

#include <string>

#include "engine/config.h"
#include "engine/maps.h"

namespace tests {

// Paths of inputs in `config` are relative to `folder`. All cores.
engine::Maps search(const engine::SearchConfig& config, const std::string& folder);

// Searches what leopard-em/NAME/config.yaml of `folder` describes.
engine::Maps search_reference_case(const std::string& name, const std::string& folder);

}  // namespace tests
