// Includes the JSON library, whose templates are compiled once, in json.cpp, instead of in every
// file that includes this header; and reads whole numbers from a document.
#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

extern template class nlohmann::basic_json<>;
extern template class nlohmann::detail::lexer<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;
extern template class nlohmann::detail::parser<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;
extern template class nlohmann::detail::serializer<nlohmann::json>;

namespace base {

// Returns the whole number that `value` holds; nullopt where it holds anything else, or a number
// out of the range of `Number`. For documents from elsewhere: the library's own conversion cuts off
// a fraction, wraps an integer out of range, and is undefined for other numbers out of range.
template <std::integral Number, class Json>
std::optional<Number> as_whole_number(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.template get<uint64_t>();
    if (std::in_range<Number>(number)) return static_cast<Number>(number);
  } else if (value.is_number_integer()) {
    const auto number = value.template get<int64_t>();
    if (std::in_range<Number>(number)) return static_cast<Number>(number);
  }
  return std::nullopt;
}

// Throws nlohmann::json::type_error: field `key` is no whole number in range, but `found`.
[[noreturn]] void refuse_whole_number(const char* key, const std::string& found);

// Returns the whole number in field `key` of `object`. Throws nlohmann::json::out_of_range where
// there is no such field, and type_error where `object` is no object or the field no whole number
// in range.
template <std::integral Number, class Json>
Number whole_number(const Json& object, const char* key) {
  const Json& value = object.at(key);
  if (const auto number = as_whole_number<Number>(value)) return *number;
  refuse_whole_number(key, value.is_number() ? value.dump() : value.type_name());
}

}  // namespace base
