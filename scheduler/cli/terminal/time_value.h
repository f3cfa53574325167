// Parses points in time in options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace scheduler::cli {

// Seconds since the epoch for "+3h" (from `now` on), "08:00" (the next such local time),
// "2026-11-24T08:00" or "2026-11-24 08:00" (local time; UTC with a Z behind it), each with or
// without seconds. nullopt for anything else, and for times that do not exist, such as 25:00.
std::optional<int64_t> parse_time(std::string_view text, int64_t now);

// "invalid time 'soon'; write for example +3h, 08:00, 2026-11-24T08:00 or 2026-11-24T07:00Z".
std::string invalid_time(std::string_view text);

}  // namespace scheduler::cli
