// The layout of an image's lines in memory between the passes.
#pragma once

#include <cstddef>

namespace engine::cpu {

// The number of lines that are transposed together: 16 complex floats fill two cache lines.
constexpr int kBlock = 16;
// Lines begin at multiples of 64 bytes (8 complex floats), which FFTW's plans assume. Adding the
// same amount once more keeps the columns of a block out of the cache sets that they would share at
// a power-of-two stride.
constexpr int kPad = 8;

constexpr size_t padded(int length) {
  return (static_cast<size_t>(length) + kPad - 1) / kPad * kPad;
}

// Returns the number of blocks that cover `lines`.
constexpr size_t blocks(int lines) { return (static_cast<size_t>(lines) + kBlock - 1) / kBlock; }

}  // namespace engine::cpu
