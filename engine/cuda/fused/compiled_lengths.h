// The lengths for which this build's fused kernels are compiled: CMake's MARGAY_FUSED_LENGTHS,
// separated by colons ("512:2304"), since nvcc takes a comma for the end of an option.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "engine/cuda/fused/correlator.h"

namespace engine::cuda {

constexpr size_t count_lengths(std::string_view text) {
  size_t count = 1;
  for (const char c : text) count += c == ':' ? 1 : 0;
  return count;
}

constexpr int length_at(std::string_view text, size_t index) {
  for (; index > 0; --index) text.remove_prefix(text.find(':') + 1);
  int value = 0;
  for (const char c : text.substr(0, text.find(':'))) value = 10 * value + (c - '0');
  return value;
}

template <size_t... kAt>
LengthList<length_at(MARGAY_FUSED_LENGTHS, kAt)...> list_lengths(std::index_sequence<kAt...>);

using CompiledLengths =
    decltype(list_lengths(std::make_index_sequence<count_lengths(MARGAY_FUSED_LENGTHS)>()));

}  // namespace engine::cuda
