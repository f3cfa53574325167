// Moves points between global memory and the registers of the columns' threads, where lines of rows
// become columns, and columns become lines of rows again.
//
// Data that is used once is marked to leave the caches first, which are for roots and, in L2, for
// the tiles' spectra.
#pragma once

#include "engine/cuda/fused/layout.cuh"

namespace engine::cuda {

// Packs two adjacent Elements, which are written in one access.
__device__ __forceinline__ uint4 side_by_side(HalfPoint a, HalfPoint b) {
  return make_uint4(a.x.bits, a.y.bits, b.x.bits, b.y.bits);
}

// Reads x[i] = row i x kStep from `in` on, for i < kInputs; rows from `rows` on are 0.
template <typename Storage, int kInputs, int kStep, int kRadix>
__device__ __forceinline__ void read_column(const typename Storage::Element* in, int rows,
                                            typename Storage::Point (&x)[kRadix]) {
  using Point = typename Storage::Point;
  constexpr int kNext = kStep * Storage::kColumns;
  if constexpr (Storage::kLanes == 1) {
    unrolled<kInputs>([&](auto i) {
      x[i] = i * kStep < rows ? Storage::widen(__ldcs(in + i * kNext)) : Point{};
    });
  } else {
    unrolled<(kInputs + 1) / 2>([&](auto i) {
      uint4 two = make_uint4(0, 0, 0, 0);
      if (2 * i * kStep < rows) two = __ldcs(reinterpret_cast<const uint4*>(in + i * kNext));
      const Point a = {{two.x}, {two.y}};
      const Point b = {{two.z}, {two.w}};
      x[2 * i] = firsts_of(a, b);
      x[2 * i + 1] = seconds_of(a, b);
    });
  }
}

// Writes the first kKept points back: line i x kStep, where it is below `lines`, goes to
// out + i x step.
template <typename Storage, int kStep, int kKept, int kRadix>
__device__ __forceinline__ void write_column(const typename Storage::Point (&x)[kRadix], int lines,
                                             ptrdiff_t step, typename Storage::Element* out) {
  unrolled<(kKept + Storage::kLanes - 1) / Storage::kLanes>([&](auto i) {
    if (i * kStep >= lines) return;
    auto* at = out + i * step;
    if constexpr (Storage::kLanes == 1) {
      __stcs(at, Storage::narrow(x[i]));
    } else {
      __stcs(reinterpret_cast<uint4*>(at),
             side_by_side(firsts_of(x[2 * i], x[2 * i + 1]), seconds_of(x[2 * i], x[2 * i + 1])));
    }
  });
}

}  // namespace engine::cuda
