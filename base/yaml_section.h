// A YAML file as sections that know where they stand, so that every refusal names the file, the
// line and the key.
//
// Values are taken as Leopard-EM's models take them: "5200.0" is a number, an integral float is an
// integer, yes, on and 1 are true.
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

// A YAML map. `path` is its key path ("optics_group", empty at the top).
class YamlSection {
 public:
  YamlSection(const YAML::Node& node, std::string file, std::string path);

  // Refuses every key that is not in `known`, with the nearest known one.
  void allow_only(const std::vector<std::string>& known) const;
  // The same as messages, one for each such key, for what is not worth refusing.
  std::vector<std::string> unknown_keys(const std::vector<std::string>& known) const;

  bool empty() const { return entries_.empty(); }
  // Present and not null.
  bool has(const std::string& key) const;
  std::vector<std::string> keys() const;

  YamlValue value(const std::string& key) const;      // refused where missing or null
  YamlSection section(const std::string& key) const;  // refused where missing or null
  // An empty section where missing or null.
  YamlSection optional_section(const std::string& key) const;

  // With a default, for a key that may be missing. A null counts as missing.
  double number(const std::string& key, double missing) const;
  bool flag(const std::string& key, bool missing) const;
  int integer(const std::string& key, int missing, int smallest) const;
  double number_at_least(const std::string& key, double missing, double smallest) const;
  std::optional<double> optional_number(const std::string& key) const;
  double number_within(const std::string& key, double missing, const Limits& limits) const;
  std::string text(const std::string& key) const;

  // Whether the key is written at all, null included.
  bool mentions(const std::string& key) const;

  // The section with this text as the value at a path such as "site.nodes", in place of the one
  // that is there; sections on the way that are missing are made. Throws YamlError where one of
  // them is no section.
  YamlSection with(const std::string& path, const std::string& text) const;

  // Throws YamlError: 'FILE' line N: path.key PROBLEM. An empty key means the section itself.
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

  // Each throws YamlError where the value is another one.
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

// The one document of `text`, which must be a map; empty where there is none. `file` stands for it
// in messages. Throws YamlError.
YamlSection parse_yaml(const std::string& text, const std::string& file, const YamlSize& most = {});

}  // namespace base
