#include "base/yaml_section.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>
#include <system_error>

#include "base/duration.h"
#include "base/nearest_name.h"
#include "base/text.h"

namespace base {
namespace {

// Deeper than any merge that a person writes; a map that merges itself would never end.
constexpr int kDeepestMerge = 16;

int line_of(const YAML::Node& node) {
  const YAML::Mark mark = node.Mark();
  return mark.is_null() ? 0 : mark.line + 1;
}

std::string number_text(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

std::optional<double> truth_as_number(const std::string& word) {
  if (word == "true" || word == "yes" || word == "on") return 1.0;
  if (word == "false" || word == "no" || word == "off") return 0.0;
  return std::nullopt;
}

struct ParsedNumber {
  double value = 0;
  std::string problem;  // empty: fine
};

ParsedNumber parse_number(const std::string& written, bool quoted) {
  std::string digits = trimmed(written);
  std::erase(digits, '_');
  if (!quoted) {
    if (const auto truth = truth_as_number(lower(digits))) return {*truth, ""};
  }
  if (!digits.empty() && digits[0] == '+') digits.erase(0, 1);
  const bool plain_integer = digits.find_first_not_of("0123456789") == std::string::npos;
  if (!quoted && plain_integer && digits.size() > 1 && digits[0] == '0') {
    return {0, "begins with 0, which YAML may take for base 8: leave the 0 out"};
  }
  if (lower(digits).find("inf") != std::string::npos ||
      lower(digits).find("nan") != std::string::npos) {
    return {0, "must be a finite number"};
  }
  double value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error == std::errc::result_out_of_range) return {0, "is out of range"};
  if (error != std::errc() || stop != end || digits.empty()) return {0, "must be a number"};
  return {value, ""};
}

}  // namespace

YamlSection::YamlSection(const YAML::Node& node, std::string file, std::string path)
    : file_(std::move(file)), path_(std::move(path)), line_(line_of(node)) {
  if (node.IsDefined() && !node.IsNull()) add(node, 0, false);
}

void YamlSection::add(const YAML::Node& node, int depth, bool merged) {
  if (!node.IsMap()) refuse("", "must be a mapping of keys to values");
  if (depth > kDeepestMerge) refuse("", "merges itself");
  std::vector<YAML::Node> merges;
  for (const auto& pair : node) {
    if (!pair.first.IsScalar()) refuse("", "has a key that is not plain text");
    const std::string key = pair.first.Scalar();
    if (key == "<<" && pair.first.Tag() == "?") {
      merges.push_back(pair.second);
    } else if (find(key) == nullptr) {
      entries_.push_back({key, pair.second, line_of(pair.first)});
    } else if (!merged) {
      refuse(key, "is written twice");
    }
  }
  // What stands in the map itself goes before what is merged into it.
  for (const YAML::Node& merge : merges) {
    if (merge.IsSequence()) {
      for (const auto& item : merge) add(item, depth + 1, true);
    } else {
      add(merge, depth + 1, true);
    }
  }
}

const YamlSection::Entry* YamlSection::find(const std::string& key) const {
  for (const Entry& entry : entries_) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

std::string YamlSection::key_path(const std::string& key) const {
  if (key.empty()) return path_;
  return path_.empty() ? key : path_ + "." + key;
}

void YamlSection::refuse(const std::string& key, const std::string& problem) const {
  const Entry* entry = key.empty() ? nullptr : find(key);
  const std::string name = key_path(key);
  throw YamlError(yaml_place(file_, entry != nullptr ? entry->line : line_) + ": " +
                  (name.empty() ? "it" : name) + " " + problem);
}

std::vector<std::string> YamlSection::unknown_keys(const std::vector<std::string>& known) const {
  std::vector<std::string> result;
  for (const Entry& entry : entries_) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    std::string hint = did_you_mean(entry.key, known);
    if (hint.empty()) {
      hint = "; known here:";
      for (const std::string& key : known) hint += " " + key;
    }
    result.push_back(yaml_place(file_, entry.line) + ": unknown key '" + key_path(entry.key) + "'" +
                     hint);
  }
  return result;
}

void YamlSection::allow_only(const std::vector<std::string>& known) const {
  const std::vector<std::string> unknown = unknown_keys(known);
  if (!unknown.empty()) throw YamlError(unknown.front());
}

bool YamlSection::mentions(const std::string& key) const { return find(key) != nullptr; }

bool YamlSection::has(const std::string& key) const {
  const Entry* entry = find(key);
  return entry != nullptr && !entry->value.IsNull();
}

std::vector<std::string> YamlSection::keys() const {
  std::vector<std::string> result;
  for (const Entry& entry : entries_) result.push_back(entry.key);
  return result;
}

YamlValue YamlSection::value(const std::string& key) const {
  const Entry* entry = find(key);
  if (entry == nullptr) refuse(key, "is missing");
  if (entry->value.IsNull()) refuse(key, "is empty (null), but a value is needed");
  return {entry->value, file_, key_path(key), entry->line};
}

YamlSection YamlSection::section(const std::string& key) const { return value(key).as_section(); }

YamlSection YamlSection::optional_section(const std::string& key) const {
  if (has(key)) return section(key);
  return {YAML::Node(), file_, key_path(key)};
}

YAML::Node YamlSection::as_node() const {
  YAML::Node node(YAML::NodeType::Map);
  for (const Entry& entry : entries_) node.force_insert(entry.key, entry.value);
  return node;
}

YamlSection YamlSection::with(const std::string& path, const std::string& text) const {
  const size_t dot = path.find('.');
  const std::string key = path.substr(0, dot);
  const YAML::Node value = dot == std::string::npos
                               ? YAML::Node(text)
                               : optional_section(key).with(path.substr(dot + 1), text).as_node();
  YamlSection changed(YAML::Node(), file_, path_);
  changed.line_ = line_;
  // Entry by entry: assigning to a node of the YAML library changes what it stands for elsewhere.
  for (const Entry& entry : entries_) {
    if (entry.key != key) changed.entries_.push_back(entry);
  }
  changed.entries_.push_back({key, value, 0});
  return changed;
}

double YamlSection::number(const std::string& key, double missing) const {
  return has(key) ? value(key).number() : missing;
}

bool YamlSection::flag(const std::string& key, bool missing) const {
  return has(key) ? value(key).flag() : missing;
}

int YamlSection::integer(const std::string& key, int missing, int smallest) const {
  return has(key) ? value(key).integer(smallest) : missing;
}

double YamlSection::number_at_least(const std::string& key, double missing, double smallest) const {
  return has(key) ? value(key).number_at_least(smallest) : missing;
}

double YamlSection::number_within(const std::string& key, double missing,
                                  const Limits& limits) const {
  return has(key) ? value(key).number_within(limits) : missing;
}

std::optional<double> YamlSection::optional_number(const std::string& key) const {
  if (!has(key)) return std::nullopt;
  return value(key).number();
}

std::string YamlSection::text(const std::string& key) const { return value(key).text(); }

void YamlValue::refuse(const std::string& problem) const {
  throw YamlError(yaml_place(file_, line_) + ": " + path_ + " " + problem);
}

std::string YamlValue::scalar(const std::string& wanted) const {
  if (!node_.IsScalar()) refuse("must be " + wanted + ", not a list or a map");
  return node_.Scalar();
}

double YamlValue::number() const {
  const std::string written = scalar("a number");
  const ParsedNumber parsed = parse_number(written, node_.Tag() == "!");
  if (!parsed.problem.empty()) refuse(parsed.problem + ", but is '" + written + "'");
  return parsed.value;
}

double YamlValue::number_at_least(double smallest) const {
  const double result = number();
  if (result < smallest) {
    refuse("must be at least " + number_text(smallest) + ", but is " + number_text(result));
  }
  return result;
}

double YamlValue::number_within(const Limits& limits) const {
  const double result = number();
  if (limits.least > 0 && result <= 0) {
    refuse("must be greater than 0, but is " + number_text(result));
  }
  const std::string but = limits.unit + (", but is " + number_text(result));
  if (result < limits.least) refuse("must be at least " + number_text(limits.least) + but);
  if (result > limits.most) refuse("must be at most " + number_text(limits.most) + but);
  return result;
}

double YamlValue::positive_number() const {
  const double result = number();
  if (result <= 0) refuse("must be greater than 0, but is " + number_text(result));
  return result;
}

int YamlValue::integer(int smallest) const {
  const double result = number();
  if (result != std::floor(result) || std::abs(result) > std::numeric_limits<int>::max()) {
    refuse("must be a whole number, but is " + number_text(result));
  }
  if (result < smallest) {
    refuse("must be at least " + std::to_string(smallest) + ", but is " + number_text(result));
  }
  return static_cast<int>(result);
}

bool YamlValue::flag() const {
  const std::string written = scalar("true or false");
  const std::string word = lower(trimmed(written));
  if (word == "t" || word == "y") return true;
  if (word == "f" || word == "n") return false;
  const ParsedNumber parsed = parse_number(word, false);
  if (!parsed.problem.empty() || (parsed.value != 0 && parsed.value != 1)) {
    refuse("must be true or false, but is '" + written + "'");
  }
  return parsed.value == 1;
}

std::string YamlValue::text() const { return scalar("text"); }

std::chrono::milliseconds YamlValue::duration() const {
  const std::string written = scalar("a duration");
  const auto result = parse_duration(written);
  if (!result) refuse("has an " + invalid_duration(written));
  return *result;
}

bool YamlValue::is_list() const { return node_.IsSequence(); }

bool YamlValue::is_section() const { return node_.IsMap(); }

std::vector<YamlValue> YamlValue::items() const {
  if (!node_.IsSequence()) refuse("must be a list");
  std::vector<YamlValue> result;
  for (size_t i = 0; i < node_.size(); ++i) {
    result.emplace_back(node_[i], file_, path_ + "[" + std::to_string(i) + "]", line_of(node_[i]));
  }
  return result;
}

std::vector<double> YamlValue::numbers() const {
  std::vector<double> result;
  for (const YamlValue& item : items()) result.push_back(item.number());
  return result;
}

YamlSection YamlValue::as_section() const {
  if (!node_.IsMap()) refuse("must be a mapping of keys to values");
  return {node_, file_, path_};
}

YamlSection parse_yaml(const std::string& text, const std::string& file, const YamlSize& most) {
  return {load_yaml(text, file, most), file, ""};
}

}  // namespace base
