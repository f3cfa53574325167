// A variant of correlate_columns for lengths R x R, where a thread holds R points: each transform
// exchanges points through shared memory once instead of twice, with one table of roots.
// Frequencies are in natural order.
//
// Point r + R i of a line is x[i] of thread r before the forward transform and after the inverse
// one; frequency r + R i is x[i] of thread r between them.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "engine/cuda/fused/fft_roots.cuh"
#include "engine/cuda/fused/kernels.cuh"
#include "engine/cuda/fused/layout.cuh"
#include "engine/cuda/fused/lines.cuh"
#include "engine/cuda/fused_tuning.h"

namespace engine::cuda {

// The layout of a block's lines in shared memory while it transforms them.
template <int kLength, typename Storage>
struct InTwo {
  static constexpr int kRadix = radix_in_two(kLength);
  static constexpr int kLines = Storage::kColumns / Storage::kLanes;
  static constexpr int kThreads = kRadix * kLines;
  // Odd, so that threads that each read a row have no bank conflicts.
  static constexpr int kRow = kRadix + 1;
  static constexpr int kSharedPoints = kRadix * kRow * kLines;
  static constexpr size_t kSharedBytes =
      kSharedPoints * sizeof(typename Storage::Point) +
      static_cast<size_t>(kLength) * kLines * sizeof(typename Storage::Element);
  static_assert(kRadix * kRadix == kLength && kRow % 2 == 1);
  static_assert(kRadix % kChunkLines == 0, "the exchange has whole chunks of lines");
};

// Makes the table of roots: W(L)^(r i) is at i R + r.
template <int kLength, typename Root = float2>
std::vector<Root> make_roots_in_two() {
  constexpr int kRadix = radix_in_two(kLength);
  std::vector<Root> roots(kLength);
  for (int i = 0; i < kRadix; ++i) {
    for (int r = 0; r < kRadix; ++r) {
      const double angle = -2 * std::numbers::pi * r * i / kLength;
      store_root(std::cos(angle), std::sin(angle), &roots[static_cast<size_t>(i * kRadix + r)]);
    }
  }
  return roots;
}

// Does what correlate_columns does.
template <int kLength, int kInputs, int kKept, typename Storage>
__global__ void __launch_bounds__(
    InTwo<kLength, Storage>::kThreads,
    FusedTuning<kLength, Storage>::blocks_of_columns_in_two(InTwo<kLength, Storage>::kThreads))
    correlate_columns_in_two(FusedShape shape, bool chunks_first, FusedArrays<Storage> arrays) {
  using Layout = InTwo<kLength, Storage>;
  using Element = typename Storage::Element;
  using Point = typename Storage::Point;
  constexpr int kRadix = Layout::kRadix;
  constexpr int kLines = Layout::kLines;
  constexpr int kNext = Layout::kThreads;       // from a thread's stored element to its next one
  constexpr int kDown = Layout::kRow * kLines;  // from row to row in shared memory
  const auto chunk = static_cast<int>(chunks_first ? blockIdx.x : blockIdx.y);
  const auto transform = static_cast<int>(chunks_first ? blockIdx.y : blockIdx.x);
  const int line = static_cast<int>(threadIdx.x) % kLines;
  const int thread = static_cast<int>(threadIdx.x) / kLines;
  Point* exchange = shared_memory<Point>();
  Point* row = exchange + thread * kDown + line;
  Point* column = exchange + thread * kLines + line;
  // The template's transform is kept here for all tiles; each thread reads only what it wrote.
  Element* kept = reinterpret_cast<Element*>(exchange + Layout::kSharedPoints) + threadIdx.x;
  const auto* roots = arrays.column_roots + thread;
  const Element* spectrum = arrays.spectra + shape.spectrum_chunk<Storage>(chunk) + threadIdx.x;
  const int first = chunk * Storage::kColumns + line * Storage::kLanes;
  Element* out = arrays.exchange + shape.exchange_place<Storage>(0, transform, thread, first);

  Point x[kRadix];
  read_column<Storage, kInputs, kRadix>(
      arrays.template_rows + shape.template_place<Storage>(transform, thread, first),
      shape.n - thread, x);
  transform_points<kRadix, false, kInputs>(x);
#pragma unroll
  for (int i = 0; i < kRadix; ++i) {
    column[i * kDown] = i == 0 ? x[i] : fused_product(x[i], load_root(roots + i * kRadix));
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kRadix; ++i) {
    x[i] = row[i * kLines];
  }
  transform_points<kRadix, false>(x);
#pragma unroll
  for (int i = 0; i < kRadix; ++i) {
    kept[i * kNext] = Storage::narrow(x[i]);
  }

  for (int tile = 0; tile < shape.tiles; ++tile) {
#pragma unroll
    for (int i = 0; i < kRadix; ++i) {
      x[i] = conjugate_product(Storage::widen(__ldcg(spectrum + i * kNext)),
                               Storage::widen(kept[i * kNext]));
    }
    transform_points<kRadix, true>(x);
#pragma unroll
    for (int i = 0; i < kRadix; ++i) {
      row[i * kLines] = i == 0 ? x[i] : conjugate_product(x[i], load_root(roots + i * kRadix));
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kRadix; ++i) {
      x[i] = column[i * kDown];
    }
    transform_points<kRadix, true>(x);
    write_column<Storage, kRadix, kKept>(x, shape.exchange_lines<Storage>() - thread,
                                         static_cast<ptrdiff_t>(shape.columns) * kRadix, out);
    spectrum += shape.spectrum_size<Storage>();
    out += shape.exchange_tile<Storage>();
    // The next tile overwrites what other threads may still be reading.
    __syncthreads();
  }
}

}  // namespace engine::cuda
