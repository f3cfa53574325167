#include "scheduler/api/json_line.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "scheduler/http/json_text.h"

namespace scheduler::api {
namespace {

bool needs_no_escape(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char byte) {
    return byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\';
  });
}

}  // namespace

void JsonLine::add_key(const char* key) {
  if (!is_first_) out_ += ',';
  is_first_ = false;
  out_ += '"';
  out_ += key;
  out_ += "\":";
}

void JsonLine::put(const char* key, int64_t value) {
  add_key(key);
  std::array<char, 24> digits{};
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out_.append(digits.data(), result.ptr);
}

void JsonLine::put(const char* key, bool value) {
  add_key(key);
  out_ += value ? "true" : "false";
}

void JsonLine::put(const char* key, const std::string& utf8) {
  add_key(key);
  if (!needs_no_escape(utf8)) {
    out_ += nlohmann::json(utf8).dump();
    return;
  }
  out_ += '"';
  out_ += utf8;
  out_ += '"';
}

void JsonLine::put(const char* key, const nlohmann::json& value) {
  add_key(key);
  out_ += value.dump();
}

void JsonLine::put_bytes(const char* key, const std::string& bytes) {
  if (needs_no_escape(bytes)) {
    put(key, bytes);
    return;
  }
  nlohmann::json fields;
  put_text(fields, key, bytes);
  for (const auto& [name, value] : fields.items()) put(name.c_str(), value);
}

}  // namespace scheduler::api
