// Strings of the system (paths, names, messages) in JSON. A key X always holds text to show; when
// the bytes are not UTF-8, X_base64 beside it holds the exact bytes and takes precedence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"

namespace scheduler::api {

void put_text(nlohmann::json& object, const std::string& key, const std::string& bytes);
// Returns the exact bytes; empty when the key is absent or not a string (or not base64).
std::optional<std::string> get_text(const nlohmann::json& object, const std::string& key);

// The API's "error": its kind, its message, and the conflicting item unless that is 0.
nlohmann::json error_json(const std::string& kind, const std::string& message, int64_t item = 0);

}  // namespace scheduler::api
