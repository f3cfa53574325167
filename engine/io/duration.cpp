#include "engine/io/duration.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "engine/error.h"

namespace engine {
namespace {

constexpr double kLongest = 1e12;  // ms, 30 years
constexpr std::array<std::pair<std::string_view, double>, 4> kUnits = {
    {{"ms", 1.0}, {"s", 1e3}, {"m", 60e3}, {"h", 3600e3}}};

}  // namespace

std::chrono::milliseconds parse_duration(const std::string& text, const std::string& option) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  const std::string_view unit(stop, static_cast<size_t>(end - stop));
  if (error == std::errc() && value >= 0) {
    for (const auto& [name, milliseconds] : kUnits) {
      if (unit != name || value * milliseconds > kLongest) continue;
      return std::chrono::milliseconds(std::llround(value * milliseconds));
    }
  }
  throw UsageError(option + ": '" + text +
                   "' is no length of time; write for example 500ms, 90s, "
                   "10m or 2h");
}

}  // namespace engine
