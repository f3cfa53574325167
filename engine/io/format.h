// Times and numbers as people read them.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace engine {

// Formats as printf does. The compiler does not check the pattern against the values: int64_t needs
// PRId64, and text is a const char*.
template <typename... Values>
std::string format(const char* pattern, Values... values) {
  const int size = std::snprintf(nullptr, 0, pattern, values...);
  std::string text(static_cast<size_t>(size), '\0');
  std::snprintf(text.data(), text.size() + 1, pattern, values...);
  return text;
}

// Returns ISO 8601 in UTC and whole seconds: 2026-01-31T23:59:59Z.
std::string utc_time_text(std::chrono::system_clock::time_point time);

}  // namespace engine
