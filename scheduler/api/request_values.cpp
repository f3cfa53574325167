#include "scheduler/api/request_values.h"

#include "base/parse_number.h"
#include "base/text.h"
#include "scheduler/http/json_text.h"

namespace scheduler::api {

int64_t integer(const std::string& text, const std::string& what) {
  const auto value = base::parse_number<int64_t>(text);
  if (!value || *value < 0) {
    throw Invalid("invalid " + what + " '" + text + "'; expected a whole number");
  }
  return *value;
}

std::vector<std::string> words_of(const std::string& text, char separator) {
  std::vector<std::string> words = base::split(text, separator);
  std::erase(words, "");
  return words;
}

std::string parameter(const Request& request, const std::string& key) {
  const auto found = request.query.find(key);
  return found == request.query.end() ? "" : found->second;
}

Refusal refusal_of(CommandFault fault) {
  switch (fault) {
    case CommandFault::kNotFound:
      return {404, "not_found"};
    case CommandFault::kNotPermitted:
      return {403, "not_permitted"};
    case CommandFault::kInvalid:
      return {400, "invalid"};
    case CommandFault::kBadOption:
      return {400, "usage"};
    case CommandFault::kConflict:
      return {409, "conflict"};
    case CommandFault::kUnavailable:
      return {503, "unavailable"};
  }
  return {};
}

nlohmann::json error_of(const CommandError& error) {
  return {{"error", error_json(refusal_of(error.fault()).kind, error.what(), error.item_id())}};
}

}  // namespace scheduler::api
