// Includes the JSON library, whose templates are compiled once, in json.cpp, instead of in every
// file that includes this header; and reads whole numbers from a document.
#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

extern template class nlohmann::basic_json<>;
extern template class nlohmann::detail::lexer<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;
extern template class nlohmann::detail::parser<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;
extern template class nlohmann::detail::serializer<nlohmann::json>;

namespace base {

// Throws the library's type_error, since `value` is not a whole number of the expected type.
[[noreturn]] void refuse_whole_number(const nlohmann::json& value);

// The number that a document from elsewhere holds. The library's own conversion takes a fraction or
// a number out of the type's range as well, and then the result is undefined. Throws
// nlohmann::json::type_error for anything but a whole number in the range of `Number`.
template <std::integral Number>
Number whole_number(const nlohmann::json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (std::in_range<Number>(number)) return static_cast<Number>(number);
  } else if (value.is_number_integer()) {
    const auto number = value.get<int64_t>();
    if (std::in_range<Number>(number)) return static_cast<Number>(number);
  }
  refuse_whole_number(value);
}

}  // namespace base
