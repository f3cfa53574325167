// One length of the fused path: its passes, their roots of unity and the order of its spectrum.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/numerics/fft_plan.h"

namespace engine::cpu::fused {

// A pass over blocks of `radix` x `step` points: butterflies of points `step` apart.
struct Pass {
  int radix = 0;
  size_t step = 0;
  // exp(-2 pi i k j / (radix x step)), real and imaginary part, for j = 0 .. step-1 and
  // k = 1 .. radix-1, k fastest. Empty where step is 1: all are 1.
  AlignedArray<float> roots;
};

// A forward transform takes points in their order and leaves the spectrum in that of `frequencies`;
// an inverse one takes it so. The first pass cuts the line into `parts` of `part` points each,
// which the others transform one by one.
struct Line {
  // `length` has factors (lengths.h).
  explicit Line(int length);

  size_t length;
  size_t parts;
  size_t part;
  // In working memory a part begins so many points behind the one before it: one more than it has,
  // so that points that are taken together do not lie in the same sets of the cache.
  size_t part_stride() const { return part + 1; }
  // Points of working memory.
  size_t working() const { return parts * part_stride(); }

  std::vector<Pass> passes;
  std::vector<int> frequencies;  // at each position
};

}  // namespace engine::cpu::fused
