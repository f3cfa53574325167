// YAML mappings into structs: each key once, each known, faults named by their place.
#pragma once

#include <yaml-cpp/yaml.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/config/config.h"

namespace scheduler {

using Reader = std::function<void(const YAML::Node&)>;
using Readers = std::map<std::string, Reader>;

// `file` and `section` are for messages; an empty section is the file's top. A reader throws
// ConfigError with the end of the sentence that begins with the key's name.
void read_mapping(const YAML::Node& node, const std::string& file, const std::string& section,
                  const Readers& readers);

Reader text_into(std::string& target);
Reader number_into(int& target);
Reader flag_into(bool& target);
Reader duration_into(std::chrono::milliseconds& target);

// One of some words.
template <typename Value>
Reader word_into(Value& target, const std::vector<std::pair<std::string, Value>>& words) {
  return [&target, words](const YAML::Node& node) {
    const auto text = node.as<std::string>();
    std::string known;
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i].first == text) {
        target = words[i].second;
        return;
      }
      const std::string link = i == 0 ? "" : i + 1 == words.size() ? " or " : ", ";
      known += link + words[i].first;
    }
    throw ConfigError("must be " + known + ", not '" + text + "'");
  };
}

// The section `slurm`.
Reader slurm_into(SlurmOptions& slurm, const std::string& file);
// What must fit together in it; paths made absolute. Throws ConfigError.
void complete_slurm(SlurmOptions& slurm);

}  // namespace scheduler
