#include "base/duration.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <system_error>
#include <utility>

namespace base {
namespace {

constexpr double kLongestMs = 1e12;  // 30 years
constexpr std::array<std::pair<std::string_view, double>, 5> kUnits = {
    {{"ms", 1.0}, {"s", 1e3}, {"m", 60e3}, {"h", 3600e3}, {"d", 86400e3}}};

}  // namespace

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  const std::string_view unit(stop, static_cast<size_t>(end - stop));
  if (error != std::errc() || !(value >= 0)) return std::nullopt;
  for (const auto& [name, milliseconds] : kUnits) {
    if (unit != name || value * milliseconds > kLongestMs) continue;
    return std::chrono::milliseconds(static_cast<int64_t>(value * milliseconds + 0.5));
  }
  return std::nullopt;
}

std::string invalid_duration(std::string_view text) {
  return "invalid duration '" + std::string(text) + "'; write for example 500ms, 90s, 10m or 2h";
}

std::string duration_text(double seconds) {
  struct Unit {
    int64_t seconds, smaller;
    const char* pattern;
  };
  constexpr std::array<Unit, 3> units = {{{86400, 3600, "%lld d %lld h"},
                                          {3600, 60, "%lld h %02lld min"},
                                          {60, 1, "%lld min %02lld s"}}};
  // A NaN counts as 0, as negative ones do.
  const double known = seconds > 0 ? std::min(seconds, kLongestMs / 1e3) : 0.0;
  const auto whole = static_cast<int64_t>(known + 0.5);
  std::array<char, 64> text{};
  const auto print = [&](const char* pattern, auto... numbers) {
    std::snprintf(text.data(), text.size(), pattern, static_cast<long long>(numbers)...);
    return std::string(text.data());
  };
  for (const Unit& unit : units) {
    if (whole < unit.seconds) continue;
    return print(unit.pattern, whole / unit.seconds, whole % unit.seconds / unit.smaller);
  }
  return print("%lld s", whole);
}

}  // namespace base
