// How lines of an image lie in memory on their way through the passes.
#pragma once

#include <cstddef>

namespace engine::cpu {

// Lines that move together through a transpose: 16 complex floats fill two cache lines.
constexpr int kBlock = 16;
// Lines begin at multiples of 64 bytes (8 complex floats), so that plans may assume it; the same
// again keeps the columns of a block off the cache sets that a power-of-two stride would share.
constexpr int kPad = 8;

constexpr size_t padded(int length) {
  return (static_cast<size_t>(length) + kPad - 1) / kPad * kPad;
}

// Blocks of lines that cover `lines`.
constexpr size_t blocks(int lines) { return (static_cast<size_t>(lines) + kBlock - 1) / kBlock; }

}  // namespace engine::cpu
