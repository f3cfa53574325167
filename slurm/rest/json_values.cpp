#include "slurm/rest/json_values.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "slurm/job_states.h"

namespace slurm {
namespace {

std::optional<int64_t> whole_number(const std::string& text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc{} || at != end) return std::nullopt;
  return number;
}

std::optional<int64_t> plain_number(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
    return static_cast<int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (!(std::abs(number) < 9e15)) return std::nullopt;
    return static_cast<int64_t>(number);
  }
  if (value.is_string()) return whole_number(value.get_ref<const std::string&>());
  return std::nullopt;
}

// One entry of a list of resources: "gres/gpu:a100:2", "gres:gpu", "gpu:4(S:0-1)", "gres/gpu=8".
struct Entry {
  bool gpu = false;
  bool typed = false;
  int64_t count = 1;
};

Entry entry_of(std::string text) {
  text = text.substr(0, text.find('('));
  if (text.starts_with("gres/") || text.starts_with("gres:")) text = text.substr(5);
  Entry entry;
  if (!text.starts_with("gpu")) return entry;
  text = text.substr(3);
  entry.gpu = text.empty() || text[0] == ':' || text[0] == '=';
  const size_t last = text.find_last_of(":=");
  if (last == std::string::npos) return entry;
  const std::optional<int64_t> count = whole_number(text.substr(last + 1));
  entry.count = count.value_or(1);
  entry.typed = last > 0 || !count;
  return entry;
}

// Cut at commas, but not inside of brackets: "gpu:4(S:0,1)".
std::vector<std::string> entries_of(const std::string& list) {
  std::vector<std::string> entries(1);
  int depth = 0;
  for (const char c : list) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == ',' && depth <= 0) {
      entries.emplace_back();
    } else {
      entries.back() += c;
    }
  }
  return entries;
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

std::optional<int> gpus_in(const std::string& list) {
  // Slurm may list the sum and each type beside it: "gres/gpu=4,gres/gpu:a100=4".
  std::optional<int64_t> plain;
  std::optional<int64_t> typed;
  for (const std::string& text : entries_of(list)) {
    const Entry entry = entry_of(text);
    if (!entry.gpu || entry.count < 0 || entry.count > 1'000'000) continue;
    std::optional<int64_t>& sum = entry.typed ? typed : plain;
    sum = sum.value_or(0) + entry.count;
  }
  const std::optional<int64_t> sum = plain ? plain : typed;
  if (!sum) return std::nullopt;
  return static_cast<int>(std::min<int64_t>(*sum, 1'000'000));
}

}  // namespace slurm
