// Lengths of time as options and configurations give them.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace base {

// Parses 500ms, 90s, 10m, 1.5h or 30d; at most 30 years, rounded to milliseconds. Returns nullopt
// for anything else.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

// Returns "invalid duration 'soon'; write for example 500ms, 90s, 10m or 2h".
std::string invalid_duration(std::string_view text);

// A length of time for people, rounded: 8 s, 3 min 20 s, 2 h 05 min, 4 d 3 h. Negative ones and
// NaN are 0 s, and those above 30 years are 30 years.
std::string duration_text(double seconds);

}  // namespace base
