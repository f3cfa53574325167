// Lengths of time as options and configurations give them.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace base {

// 500ms, 90s, 10m, 1.5h, 30d; at most 30 years, rounded to milliseconds. nullopt for anything else.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

// "invalid duration 'soon'; write for example 500ms, 90s, 10m or 2h".
std::string invalid_duration(std::string_view text);

}  // namespace base
