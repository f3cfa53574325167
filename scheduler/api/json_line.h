// A JSON object that is written as text directly: as values, a list of many items would take many
// times the memory and time.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"

namespace scheduler::api {

// Writes the same as a nlohmann::json with these fields, except for their order. Keys must need no
// escaping.
class JsonLine {
 public:
  // Appends to `out`, which must outlive the object.
  explicit JsonLine(std::string& out) : out_(out) { out_ += '{'; }

  void put(const char* key, int64_t value);
  void put(const char* key, bool value);
  void put(const char* key, const std::string& utf8);
  void put(const char* key, const nlohmann::json& value);
  // As put_text() in json_text.h.
  void put_bytes(const char* key, const std::string& bytes);
  void end() { out_ += '}'; }

 private:
  void add_key(const char* key);

  std::string& out_;
  bool is_first_ = true;
};

}  // namespace scheduler::api
