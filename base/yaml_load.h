// Loads untrusted YAML text as a node. It must be one document in which no value contains itself,
// and with each alias counted as what it stands for it may hold no more than a person writes. The
// YAML library itself may loop forever or use up the memory on other texts.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace base {

// Says what is wrong with the file; the message names the file.
class YamlError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr size_t kLongestYaml = size_t{1} << 20;  // bytes
inline constexpr size_t kMostYamlNodes = 20'000;         // values, including keys
inline constexpr size_t kDeepestYaml = 64;               // levels of nested lists and maps

// The size beyond which a text is refused.
struct YamlSize {
  size_t bytes = kLongestYaml;
  size_t nodes = kMostYamlNodes;
};

// Returns the one document of `text`; an undefined node where there is none. `file` names it in
// messages. Throws YamlError.
YAML::Node load_yaml(const std::string& text, const std::string& file, const YamlSize& most = {});

// Returns "'FILE' line N", or "'FILE'" where the line is 0.
std::string yaml_place(const std::string& file, int line);

}  // namespace base
