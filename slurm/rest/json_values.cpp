#include "slurm/rest/json_values.h"

#include <cmath>

#include "base/json.h"
#include "base/parse_number.h"
#include "slurm/job_states.h"

namespace slurm {
namespace {

// Larger values mean nothing in Slurm, and smaller ones can be multiplied by 1000.
constexpr int64_t kLargest = 9'000'000'000'000'000;

std::optional<int64_t> any_number(const Json& value) {
  if (value.is_number_integer()) return base::as_whole_number<int64_t>(value);
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (!(std::abs(number) <= static_cast<double>(kLargest))) return std::nullopt;
    return static_cast<int64_t>(number);
  }
  if (value.is_string()) return base::parse_number<int64_t>(value.get_ref<const std::string&>());
  return std::nullopt;
}

std::optional<int64_t> plain_number(const Json& value) {
  const std::optional<int64_t> number = any_number(value);
  if (!number || *number < -kLargest || *number > kLargest) return std::nullopt;
  return number;
}

}  // namespace

Json parse_json(const std::string& text) { return Json::parse(text, nullptr, false); }

const Json& member(const Json& object, const char* key) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

const Json& member(const Json& object, std::initializer_list<const char*> keys) {
  const Json* at = &object;
  for (const char* key : keys) at = &member(*at, key);
  return *at;
}

std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  return "";
}

std::optional<int64_t> number_of(const Json& value) {
  if (!value.is_object()) return plain_number(value);
  const Json& set = member(value, "set");
  if (!set.is_boolean() || !set.get<bool>() || is_infinite(value)) return std::nullopt;
  return plain_number(member(value, "number"));
}

bool is_infinite(const Json& value) {
  const Json& infinite = member(value, "infinite");
  return infinite.is_boolean() && infinite.get<bool>();
}

std::set<std::string> words_of(const Json& value) {
  if (value.is_string()) return split_words(value.get<std::string>());
  std::set<std::string> words;
  if (!value.is_array()) return words;
  for (const Json& word : value) words.merge(split_words(text_of(word)));
  return words;
}

std::vector<const Json*> objects_of(const Json& value) {
  std::vector<const Json*> objects;
  if (!value.is_array()) return objects;
  for (const Json& item : value) {
    if (item.is_object()) objects.push_back(&item);
  }
  return objects;
}

}  // namespace slurm
