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
  // The roots exp(-2 pi i k j / (radix x step)) as real and imaginary parts, for j = 0 .. step-1
  // and k = 1 .. radix-1, k fastest. Empty where step is 1, since all of them are 1.
  AlignedArray<float> roots;
};

// A forward transform takes points in natural order and leaves the spectrum in the order of
// `frequencies`; an inverse transform takes it in that order. The first pass cuts the line into
// `parts` parts of `part` points each, which the other passes transform one by one.
struct Line {
  // `length` must have factors (lengths.h).
  explicit Line(int length);

  size_t length;
  size_t parts;
  size_t part;
  // Points from the beginning of a part to the next in working memory. The extra point keeps points
  // that are used together out of the same cache sets.
  size_t part_stride() const { return part + 1; }
  // Points of working memory.
  size_t working() const { return parts * part_stride(); }

  std::vector<Pass> passes;
  std::vector<int> frequencies;  // the frequency at each position of the spectrum
};

}  // namespace engine::cpu::fused
