// Between memory and the registers of the columns' threads: where lines of rows become columns and
// columns lines of rows again.
#pragma once

#include "engine/cuda/fused/layout.cuh"

namespace engine::cuda {

// Two Elements that lie side by side, in one access.
__device__ __forceinline__ uint4 side_by_side(HalfPoint a, HalfPoint b) {
  return make_uint4(a.x.bits, a.y.bits, b.x.bits, b.y.bits);
}

// x[i] = row `thread` + i x kStep of the template of n rows, 0 beyond it, i < kInputs. `in`: of the
// first line.
template <typename Storage, int kInputs, int kStep, int kRadix>
__device__ __forceinline__ void read_column(const typename Storage::Element* in, int thread, int n,
                                            typename Storage::Point (&x)[kRadix]) {
  using Point = typename Storage::Point;
  if constexpr (Storage::kLanes == 1) {
    unrolled<kInputs>([&](auto i) {
      const int row = thread + i * kStep;
      x[i] = row < n ? Storage::widen(__ldg(in + row * Storage::kColumns)) : Point{};
    });
  } else {
    unrolled<(kInputs + 1) / 2>([&](auto i) {
      const int line = thread + i * kStep;
      uint4 two = make_uint4(0, 0, 0, 0);
      if (line + i * kStep < n) {
        two = __ldg(reinterpret_cast<const uint4*>(in + line * Storage::kColumns));
      }
      const Point a = {{two.x}, {two.y}};
      const Point b = {{two.z}, {two.w}};
      x[2 * i] = firsts_of(a, b);
      x[2 * i + 1] = seconds_of(a, b);
    });
  }
}

// The reverse, into a plane of the exchange. `out`: of the first line.
template <typename Storage, int kStep, int kRadix>
__device__ __forceinline__ void write_column(const typename Storage::Point (&x)[kRadix], int thread,
                                             const FusedShape& shape,
                                             typename Storage::Element* out) {
  unrolled<kRadix / Storage::kLanes>([&](auto i) {
    const int line = thread + i * kStep;
    if (line >= shape.exchange_lines<Storage>()) return;
    auto* at = out + shape.exchange_line<Storage>(line);
    if constexpr (Storage::kLanes == 1) {
      *at = Storage::narrow(x[i]);
    } else {
      *reinterpret_cast<uint4*>(at) =
          side_by_side(firsts_of(x[2 * i], x[2 * i + 1]), seconds_of(x[2 * i], x[2 * i + 1]));
    }
  });
}

}  // namespace engine::cuda
