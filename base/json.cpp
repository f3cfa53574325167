#include "base/json.h"

template class nlohmann::basic_json<>;
template class nlohmann::detail::lexer<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;
template class nlohmann::detail::parser<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;
template class nlohmann::detail::serializer<nlohmann::json>;

namespace base {

void refuse_whole_number(const char* key, const std::string& found) {
  constexpr int kWrongType = 302;  // the library's number of this error
  throw nlohmann::json::type_error::create(
      kWrongType, std::string("'") + key + "' must be a whole number in range, found " + found,
      nullptr);
}

}  // namespace base
