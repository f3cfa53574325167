// Times and numbers as people read them.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace engine {

// As printf writes it. The compiler does not compare the pattern with the values: int64_t takes
// PRId64, text is a const char*.
template <typename... Values>
std::string format(const char* pattern, Values... values) {
  const int size = std::snprintf(nullptr, 0, pattern, values...);
  std::string text(static_cast<size_t>(size), '\0');
  std::snprintf(text.data(), text.size() + 1, pattern, values...);
  return text;
}

// ISO 8601, UTC, whole seconds: 2026-01-31T23:59:59Z.
std::string utc_time_text(std::chrono::system_clock::time_point time);

// Short, as a progress bar needs it (the queue's tables write units out): 3d 04h, 1h 02m, 2m 05s,
// 45s.
std::string duration_text(double seconds);

// 12,345,678.
std::string grouped_number(int64_t value);

// Something per second: "6.3", "630".
std::string rate_text(double per_second);

}  // namespace engine
