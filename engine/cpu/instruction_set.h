// Names of instruction sets for people.
#pragma once

#include <string>

namespace engine::cpu {

// Returns Highway's name, or "AVX-512" for each of its targets of that family (AVX3, AVX3_DL,
// AVX3_ZEN4, ...).
inline std::string instruction_set_name(const std::string& of_highway) {
  return of_highway.starts_with("AVX3") ? "AVX-512" : of_highway;
}

}  // namespace engine::cpu
