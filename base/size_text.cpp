#include "base/size_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <system_error>

namespace base {
namespace {

constexpr std::array kSizeUnits = {"B", "kB", "MB", "GB", "TB"};
constexpr double kLargest = 1e18;

}  // namespace

std::string size_text(int64_t bytes) {
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1000 && unit + 1 < kSizeUnits.size()) {
    value /= 1000;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value,
                kSizeUnits[unit]);
  return text.data();
}

std::optional<int64_t> parse_size(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (error != std::errc() || !(value >= 0)) return std::nullopt;
  std::string_view unit(stop, static_cast<size_t>(end - stop));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  double scale = 1;
  for (const char* known : kSizeUnits) {
    if (unit == known && value * scale < kLargest) return std::llround(value * scale);
    scale *= 1000;
  }
  return std::nullopt;
}

std::string invalid_size(std::string_view text) {
  return "invalid size '" + std::string(text) + "'; write for example 800MB, 500GB or 4TB";
}

}  // namespace base
