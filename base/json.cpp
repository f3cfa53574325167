#include "base/json.h"

template class nlohmann::basic_json<>;
template class nlohmann::detail::lexer<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;
template class nlohmann::detail::parser<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;
template class nlohmann::detail::serializer<nlohmann::json>;

namespace base {

void refuse_whole_number(const nlohmann::json& value) {
  constexpr int kWrongType = 302;  // the library's number of this error
  const std::string found =
      value.is_number() ? value.dump() : std::string("of type ") + value.type_name();
  throw nlohmann::json::type_error::create(
      kWrongType, "a whole number that fits is expected, the value is " + found, &value);
}

}  // namespace base
