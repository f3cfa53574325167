// The lengths that the fused path can transform: their factors, and the length to which a side is
// padded. Pure functions.
#pragma once

#include <vector>

namespace engine::cpu::fused {

// Lines are cut into tiles of this many points, the most lanes that a vector has.
constexpr int kTile = 16;

// Returns the factors of `length` in the order of the passes, each of them 9, 8, 7, 5, 4, 3, 2 or
// 16; none where the length is no product of these. 16 comes last. The first pass goes through the
// whole line, the others stay within a part of it.
std::vector<int> factors_of(int length);

// Returns the length of at least `side` whose transform costs least, among the multiples of
// `multiple` that have factors. `side` itself is preferred unless a longer one is clearly cheaper.
int padded_length(int side, int multiple);

}  // namespace engine::cpu::fused
