// A whole search in this process, as the program does it, without writing anything.
#pragma once

#include <string>

#include "engine/config.h"
#include "engine/maps.h"

namespace tests {

// Searches what leopard-em/NAME/config.yaml of `folder` describes; its paths are relative to there.
engine::Maps search_reference_case(const std::string& name, const std::string& folder);

}  // namespace tests
