// Numbers in text.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace base {

// The whole text as a decimal number; nullopt for anything else, and for one that does not fit.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace base
