// A YAML file as sections that know their place in it, so that every error names the file, the line
// and the key.
//
// Values are converted as in Leopard-EM's models: "5200.0" is a number, an integral float is an
// integer, and yes, on and 1 are true.
#pragma once

#include <yaml-cpp/yaml.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/optics_limits.h"
#include "base/yaml_load.h"

namespace base {

class YamlValue;

// A YAML map. `path` is its key path ("optics_group"; empty at the top). Where a comment says that
// a value is refused, the function throws YamlError as refuse() does.
class YamlSection {
 public:
  YamlSection(const YAML::Node& node, std::string file, std::string path);

  // Refuses the first key that is not in `known`; the message suggests the nearest known one.
  void allow_only(const std::vector<std::string>& known) const;
  // Returns such a message for each unknown key, for a caller that only warns.
  std::vector<std::string> unknown_keys(const std::vector<std::string>& known) const;

  bool empty() const { return entries_.empty(); }
  // True where the key is present and its value is not null.
  bool has(const std::string& key) const;
  std::vector<std::string> keys() const;

  YamlValue value(const std::string& key) const;      // refused where missing or null
  YamlSection section(const std::string& key) const;  // refused where missing or null
  // An empty section where missing or null.
  YamlSection optional_section(const std::string& key) const;

  // These return `missing`, or nullopt, where the key is missing or null; text() needs the key.
  // Each throws YamlError where the value is of another kind or out of range.
  double number(const std::string& key, double missing) const;
  bool flag(const std::string& key, bool missing) const;
  int integer(const std::string& key, int missing, int smallest) const;
  double number_at_least(const std::string& key, double missing, double smallest) const;
  std::optional<double> optional_number(const std::string& key) const;
  double number_within(const std::string& key, double missing, const Limits& limits) const;
  std::string text(const std::string& key) const;

  // True where the key is present, even if its value is null.
  bool mentions(const std::string& key) const;

  // Returns a copy in which the value at a path such as "site.nodes" is this text. Missing sections
  // on the path are made. Throws YamlError where something on the path is no section.
  YamlSection with(const std::string& path, const std::string& text) const;

  // Throws YamlError "'FILE' line N: path.key PROBLEM". An empty key stands for the section itself.
  [[noreturn]] void refuse(const std::string& key, const std::string& problem) const;
  std::string key_path(const std::string& key) const;

 private:
  struct Entry {
    std::string key;
    YAML::Node value;
    int line;
  };
  const Entry* find(const std::string& key) const;
  YAML::Node as_node() const;
  void add(const YAML::Node& node, int depth, bool merged);

  std::string file_;
  std::string path_;
  int line_ = 0;
  std::vector<Entry> entries_;
};

// One value of a section.
class YamlValue {
 public:
  YamlValue(const YAML::Node& node, std::string file, std::string path, int line)
      : node_(node), file_(std::move(file)), path_(std::move(path)), line_(line) {}

  // Each throws YamlError where the value is of another kind or out of range.
  double number() const;  // finite
  double number_at_least(double smallest) const;
  double positive_number() const;
  double number_within(const Limits& limits) const;
  int integer(int smallest) const;
  bool flag() const;
  std::string text() const;
  std::chrono::milliseconds duration() const;  // base/duration.h
  std::vector<double> numbers() const;
  bool is_list() const;
  bool is_section() const;
  std::vector<YamlValue> items() const;
  YamlSection as_section() const;

  [[noreturn]] void refuse(const std::string& problem) const;

 private:
  std::string scalar(const std::string& wanted) const;

  YAML::Node node_;
  std::string file_;
  std::string path_;
  int line_;
};

// Returns the one document of `text`, which must be a map; an empty section where there is none.
// `file` names it in messages. Throws YamlError.
YamlSection parse_yaml(const std::string& text, const std::string& file, const YamlSize& most = {});

}  // namespace base
