// YAML text from others as a node, where it is harmless: one document that ends, no value that
// contains itself, and no more of it, aliases written out, than a person writes. The YAML library
// itself does not end on every text, and may use up the memory.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace base {

// What is wrong with the file; the message names it.
class YamlError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr size_t kLongestYaml = size_t{1} << 20;  // bytes
inline constexpr size_t kMostYamlNodes = 20'000;         // values, keys counted too
inline constexpr size_t kDeepestYaml = 64;               // lists and maps in one another

// What is longer or has more values than people write is refused.
struct YamlSize {
  size_t bytes = kLongestYaml;
  size_t nodes = kMostYamlNodes;
};

// The one document of `text`; an undefined node where there is none. `file` stands for it in
// messages. Throws YamlError.
YAML::Node load_yaml(const std::string& text, const std::string& file, const YamlSize& most = {});

// "'FILE' line N", without the line where it is 0.
std::string yaml_place(const std::string& file, int line);

}  // namespace base
