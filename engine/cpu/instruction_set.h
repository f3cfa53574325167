// How instruction sets are called where people read of them.
#pragma once

#include <string>

namespace engine::cpu {

// Highway's names, but "AVX-512" for each of its sets of that family (AVX3, AVX3_DL, AVX3_ZEN4,
// ...).
inline std::string instruction_set_name(const std::string& of_highway) {
  return of_highway.starts_with("AVX3") ? "AVX-512" : of_highway;
}

}  // namespace engine::cpu
