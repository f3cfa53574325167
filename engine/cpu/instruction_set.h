// Names of instruction sets for people.
#pragma once

#include <string>

namespace engine::cpu {

// Returns Highway's name of a target, or that of its family where there are several: "AVX-512" for
// AVX3, AVX3_DL, AVX3_ZEN4, ..., "SVE" for SVE_256, ...
inline std::string instruction_set_name(const std::string& of_highway) {
  if (of_highway.starts_with("AVX3")) return "AVX-512";
  return of_highway.starts_with("SVE") ? "SVE" : of_highway;
}

}  // namespace engine::cpu
