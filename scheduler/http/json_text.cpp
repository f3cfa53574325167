#include "scheduler/http/json_text.h"

#include "base/base64.h"
#include "base/utf8.h"

namespace scheduler::api {

void put_text(nlohmann::json& object, const std::string& key, const std::string& bytes) {
  if (base::is_utf8(bytes)) {
    object[key] = bytes;
    return;
  }
  object[key] = base::replace_invalid_utf8(bytes);
  object[key + "_base64"] = base::base64(bytes);
}

std::optional<std::string> get_text(const nlohmann::json& object, const std::string& key) {
  if (!object.is_object()) return std::nullopt;
  if (const auto exact = object.find(key + "_base64"); exact != object.end()) {
    if (!exact->is_string()) return std::nullopt;
    return base::from_base64(exact->get<std::string>());
  }
  const auto text = object.find(key);
  if (text == object.end() || !text->is_string()) return std::nullopt;
  return text->get<std::string>();
}

nlohmann::json error_json(const std::string& kind, const std::string& message, int64_t item) {
  nlohmann::json error = {{"kind", kind}};
  put_text(error, "message", message);
  if (item != 0) error["item"] = item;
  return error;
}

}  // namespace scheduler::api
