// Which lengths the fused path transforms, and how: the factors of a length, and the length that a
// side is padded to. Pure.
#pragma once

#include <vector>

namespace engine::cpu::fused {

// Lines are cut into tiles of this many points, the most lanes that a vector has.
constexpr int kTile = 16;

// The factors of `length`, in the order of the passes: each one of 16, 9, 8, 7, 5, 4, 3, 2. The
// first pass goes through the whole line, the others stay within a part of it. Empty where the
// length is no product of them.
std::vector<int> factors_of(int length);

// The length, `side` or more, whose transform costs least: a multiple of `multiple` that has
// factors. `side` itself where it is such a length, unless a longer one is clearly cheaper.
int padded_length(int side, int multiple);

}  // namespace engine::cpu::fused
