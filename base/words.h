// One table of an enumeration's words, used both to write and to read them.
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

// Returns the word for a value; "" where the table lacks it.
template <typename Value, size_t kCount>
constexpr const char* word_of(const Words<Value, kCount>& words, Value wanted) {
  for (const auto& [value, word] : words) {
    if (value == wanted) return word;
  }
  return "";
}

// Returns the value for a word; nullopt where the table lacks it.
template <typename Value, size_t kCount>
constexpr std::optional<Value> value_of(const Words<Value, kCount>& words,
                                        std::string_view wanted) {
  for (const auto& [value, word] : words) {
    if (word == wanted) return value;
  }
  return std::nullopt;
}

// Returns all words in the table's order, for example "cpu, gpu or node".
template <typename Value, size_t kCount>
std::string alternatives(const Words<Value, kCount>& words) {
  std::vector<std::string> all;
  for (const auto& [value, word] : words) all.emplace_back(word);
  return alternatives(all);
}

}  // namespace base
