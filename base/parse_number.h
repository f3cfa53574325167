// Parses numbers.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace base {

// Parses the whole text as a decimal number. Returns nullopt for any other text, and for a number
// that is out of the type's range.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace base
