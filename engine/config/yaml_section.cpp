#include "engine/config/yaml_section.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>
#include <system_error>

#include "engine/config/config.h"
#include "engine/error.h"

namespace engine {
namespace {

// Deeper than any merge that a person writes; a map that merges itself would never end.
constexpr int kDeepestMerge = 16;

int line_of(const YAML::Node& node) {
  const YAML::Mark mark = node.Mark();
  return mark.is_null() ? 0 : mark.line + 1;
}

std::string place(const std::string& file, int line) {
  return line > 0 ? "'" + file + "' line " + std::to_string(line) : "'" + file + "'";
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string trimmed(const std::string& text) {
  const char* blanks = " \t\r\n";
  const size_t first = text.find_first_not_of(blanks);
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
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

// Where `text` stops being UTF-8 without control characters, which the YAML library would replace
// or take for the end of the file; npos where it does not.
size_t first_bad_byte(const std::string& text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const bool blank = lead == '\t' || lead == '\n' || lead == '\r';
    if ((lead < 0x20 && !blank) || (lead >= 0x80 && lead < 0xc2) || lead > 0xf4) return i;
    const size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (i + length > text.size()) return i;
    for (size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) return i;
    }
    i += length;
  }
  return std::string::npos;
}

size_t edit_distance(const std::string& a, const std::string& b) {
  // Optimal string alignment: two neighbours swapped count as one slip.
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1, 0));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const size_t replaced = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> nearest_key(const std::string& key,
                                       const std::vector<std::string>& known) {
  if (key.size() > 200) return std::nullopt;  // nobody meant a known key by that
  std::optional<std::string> best;
  size_t best_distance = std::max<size_t>(2, key.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const size_t distance = edit_distance(lower(key), lower(candidate));
    if (distance < best_distance && distance < candidate.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

ConfigSection::ConfigSection(const YAML::Node& node, std::string file, std::string path)
    : file_(std::move(file)), path_(std::move(path)), line_(line_of(node)) {
  if (node.IsDefined() && !node.IsNull()) add(node, 0, false);
}

void ConfigSection::add(const YAML::Node& node, int depth, bool merged) {
  if (!node.IsMap()) refuse("", "must be a map of keys and values");
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

const ConfigSection::Entry* ConfigSection::find(const std::string& key) const {
  for (const Entry& entry : entries_) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

std::string ConfigSection::key_path(const std::string& key) const {
  if (key.empty()) return path_;
  return path_.empty() ? key : path_ + "." + key;
}

void ConfigSection::refuse(const std::string& key, const std::string& problem) const {
  const Entry* entry = key.empty() ? nullptr : find(key);
  const std::string name = key_path(key);
  throw InputError(place(file_, entry != nullptr ? entry->line : line_) + ": " +
                   (name.empty() ? "it" : name) + " " + problem);
}

std::string ConfigSection::unknown_key_text(const Entry& entry,
                                            const std::vector<std::string>& known) const {
  std::string text = "is not a known key";
  if (const auto near = nearest_key(entry.key, known))
    return text + "; did you mean " + *near + "?";
  text += "; known here:";
  for (const std::string& key : known) text += " " + key;
  return text;
}

void ConfigSection::allow_only(const std::vector<std::string>& known) const {
  for (const Entry& entry : entries_) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    refuse(entry.key, unknown_key_text(entry, known));
  }
}

std::vector<std::string> ConfigSection::describe_unknown(
    const std::vector<std::string>& known) const {
  std::vector<std::string> result;
  for (const Entry& entry : entries_) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    result.push_back(place(file_, entry.line) + ": " + key_path(entry.key) + " " +
                     unknown_key_text(entry, known) + " It has no effect.");
  }
  return result;
}

bool ConfigSection::mentions(const std::string& key) const { return find(key) != nullptr; }

bool ConfigSection::has(const std::string& key) const {
  const Entry* entry = find(key);
  return entry != nullptr && !entry->value.IsNull();
}

std::vector<std::string> ConfigSection::keys() const {
  std::vector<std::string> result;
  for (const Entry& entry : entries_) result.push_back(entry.key);
  return result;
}

ConfigValue ConfigSection::value(const std::string& key) const {
  const Entry* entry = find(key);
  if (entry == nullptr) refuse(key, "is missing");
  if (entry->value.IsNull()) refuse(key, "is empty (null), but a value is needed");
  return {entry->value, file_, key_path(key), entry->line};
}

ConfigSection ConfigSection::section(const std::string& key) const {
  return value(key).as_section();
}

ConfigSection ConfigSection::optional_section(const std::string& key) const {
  if (has(key)) return section(key);
  return {YAML::Node(), file_, key_path(key)};
}

double ConfigSection::number(const std::string& key, double missing) const {
  return has(key) ? value(key).number() : missing;
}

bool ConfigSection::flag(const std::string& key, bool missing) const {
  return has(key) ? value(key).flag() : missing;
}

int ConfigSection::integer(const std::string& key, int missing, int smallest) const {
  return has(key) ? value(key).integer(smallest) : missing;
}

double ConfigSection::number_at_least(const std::string& key, double missing,
                                      double smallest) const {
  return has(key) ? value(key).number_at_least(smallest) : missing;
}

std::optional<double> ConfigSection::optional_number(const std::string& key) const {
  if (!has(key)) return std::nullopt;
  return value(key).number();
}

std::string ConfigSection::text(const std::string& key) const { return value(key).text(); }

void ConfigValue::refuse(const std::string& problem) const {
  throw InputError(place(file_, line_) + ": " + path_ + " " + problem);
}

std::string ConfigValue::scalar(const std::string& wanted) const {
  if (!node_.IsScalar()) refuse("must be " + wanted + ", not a list or a map");
  return node_.Scalar();
}

double ConfigValue::number() const {
  const std::string written = scalar("a number");
  const ParsedNumber parsed = parse_number(written, node_.Tag() == "!");
  if (!parsed.problem.empty()) refuse(parsed.problem + ", but is '" + written + "'");
  return parsed.value;
}

double ConfigValue::number_at_least(double smallest) const {
  const double result = number();
  if (result < smallest) {
    refuse("must be at least " + number_text(smallest) + ", but is " + number_text(result));
  }
  return result;
}

double ConfigValue::positive_number() const {
  const double result = number();
  if (result <= 0) refuse("must be greater than 0, but is " + number_text(result));
  return result;
}

int ConfigValue::integer(int smallest) const {
  const double result = number();
  if (result != std::floor(result) || std::abs(result) > std::numeric_limits<int>::max()) {
    refuse("must be a whole number, but is " + number_text(result));
  }
  if (result < smallest) {
    refuse("must be at least " + std::to_string(smallest) + ", but is " + number_text(result));
  }
  return static_cast<int>(result);
}

bool ConfigValue::flag() const {
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

std::string ConfigValue::text() const { return scalar("text"); }

bool ConfigValue::is_list() const { return node_.IsSequence(); }

std::vector<ConfigValue> ConfigValue::items() const {
  if (!node_.IsSequence()) refuse("must be a list");
  std::vector<ConfigValue> result;
  for (size_t i = 0; i < node_.size(); ++i) {
    result.emplace_back(node_[i], file_, path_ + "[" + std::to_string(i) + "]", line_of(node_[i]));
  }
  return result;
}

std::vector<double> ConfigValue::numbers() const {
  std::vector<double> result;
  for (const ConfigValue& item : items()) result.push_back(item.number());
  return result;
}

ConfigSection ConfigValue::as_section() const {
  if (!node_.IsMap()) refuse("must be a map of keys and values");
  return {node_, file_, path_};
}

ConfigSection parse_config_document(const std::string& text, const std::string& file) {
  const size_t bad = first_bad_byte(text);
  if (bad != std::string::npos) {
    const auto lines =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bad), '\n');
    throw InputError(place(file, static_cast<int>(lines) + 1) +
                     ": not YAML in UTF-8: a byte there is no text");
  }
  std::vector<YAML::Node> documents;
  try {
    documents = YAML::LoadAll(text);
  } catch (const YAML::Exception& error) {
    const int line = error.mark.is_null() ? 0 : error.mark.line + 1;
    throw InputError(place(file, line) + ": not YAML: " + error.msg);
  }
  if (documents.empty() || documents[0].IsNull()) throw InputError(place(file, 0) + " is empty");
  if (documents.size() > 1) {
    throw InputError(place(file, 0) + " holds " + std::to_string(documents.size()) +
                     " YAML documents; one is wanted");
  }
  return {documents[0], file, ""};
}

}  // namespace engine
