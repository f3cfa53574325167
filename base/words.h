// The words of an enumeration, each named once: the table is for writing and for reading.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace base {

template <typename Value, size_t kCount>
using Words = std::array<std::pair<Value, const char*>, kCount>;

// "" when the table lacks the value.
template <typename Value, size_t kCount>
constexpr const char* word_of(const Words<Value, kCount>& words, Value wanted) {
  for (const auto& [value, word] : words) {
    if (value == wanted) return word;
  }
  return "";
}

template <typename Value, size_t kCount>
constexpr std::optional<Value> value_of(const Words<Value, kCount>& words,
                                        std::string_view wanted) {
  for (const auto& [value, word] : words) {
    if (word == wanted) return value;
  }
  return std::nullopt;
}

// All of them in the table's order, as "cpu, gpu or node".
template <typename Value, size_t kCount>
std::string alternatives(const Words<Value, kCount>& words) {
  std::vector<std::string> all;
  for (const auto& [value, word] : words) all.emplace_back(word);
  return alternatives(all);
}

}  // namespace base
