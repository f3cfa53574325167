#include "scheduler/config/yaml_reader.h"

#include <algorithm>

#include "base/duration.h"
#include "base/nearest_name.h"

namespace scheduler {
namespace {

std::string nearest(const std::string& key, const Readers& known) {
  std::vector<std::string> names;
  for (const auto& [name, reader] : known) names.push_back(name);
  return base::did_you_mean(key, names);
}

std::string place(const std::string& section, const std::string& key) {
  return section.empty() ? key : section + "." + key;
}

}  // namespace

void read_mapping(const YAML::Node& node, const std::string& file, const std::string& section,
                  const Readers& readers) {
  if (!node.IsMap()) {
    throw ConfigError(file + ": " + (section.empty() ? "the file" : "'" + section + "'") +
                      " must be a mapping of keys to values");
  }
  std::vector<std::string> seen;
  for (const auto& entry : node) {
    const auto key = entry.first.as<std::string>();
    const auto reader = readers.find(key);
    if (reader == readers.end()) {
      throw ConfigError(file + ": unknown key '" + place(section, key) + "'" +
                        nearest(key, readers));
    }
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      throw ConfigError(file + ": key '" + place(section, key) + "' is given twice");
    }
    seen.push_back(key);
    try {
      reader->second(entry.second);
    } catch (const YAML::Exception&) {
      throw ConfigError(file + ": '" + place(section, key) + "' has a value of the wrong kind");
    } catch (const ConfigError& error) {
      // A mapping within this one has named the file and the place already.
      const std::string says = error.what();
      throw ConfigError(
          says.starts_with(file + ": ") ? says : file + ": '" + place(section, key) + "' " + says);
    }
  }
}

Reader text_into(std::string& target) {
  return [&target](const YAML::Node& node) { target = node.as<std::string>(); };
}

Reader number_into(int& target) {
  return [&target](const YAML::Node& node) { target = node.as<int>(); };
}

Reader flag_into(bool& target) {
  return [&target](const YAML::Node& node) { target = node.as<bool>(); };
}

Reader duration_into(std::chrono::milliseconds& target) {
  return [&target](const YAML::Node& node) {
    const auto text = node.as<std::string>();
    const auto duration = base::parse_duration(text);
    if (!duration) throw ConfigError("has an " + base::invalid_duration(text));
    target = *duration;
  };
}

}  // namespace scheduler
