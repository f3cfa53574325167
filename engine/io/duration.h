// Lengths of time as options give them.
#pragma once

#include <chrono>
#include <string>

namespace engine {

// 500ms, 90s, 10m, 1.5h. Throws UsageError naming `option`.
std::chrono::milliseconds parse_duration(const std::string& text, const std::string& option);

}  // namespace engine
