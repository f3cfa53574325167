#include "base/parse_size.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace base {
namespace {

constexpr std::array kSizeUnits = {"B", "kB", "MB", "GB", "TB"};
constexpr double kLargestSize = 1e18;

}  // namespace

std::optional<int64_t> parse_size(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (error != std::errc() || !(value >= 0)) return std::nullopt;
  std::string_view unit(stop, static_cast<size_t>(end - stop));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  double scale = 1;
  for (const char* known : kSizeUnits) {
    if (unit == known && value * scale < kLargestSize)
      return static_cast<int64_t>(value * scale + 0.5);
    scale *= 1000;
  }
  return std::nullopt;
}

std::string invalid_size(std::string_view text) {
  return "invalid size '" + std::string(text) + "'; write for example 800MB, 500GB or 4TB";
}

}  // namespace base
