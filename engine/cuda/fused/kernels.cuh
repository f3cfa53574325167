// The three kernels of the fused path over overlap-save tiles. The first transforms the template's
// rows; the second transforms its columns, multiplies them by every tile's spectrum and transforms
// them back; the third transforms rows back and adds to the statistics. Each works on a batch of
// transforms, and no result depends on what else is in the batch.
#pragma once

#include "engine/backend/transforms.h"
#include "engine/cuda/fused/fft_block.cuh"
#include "engine/cuda/fused/layout.cuh"
#include "engine/cuda/fused/lines.cuh"
#include "engine/cuda/fused/pixel_sums.cuh"
#include "engine/cuda/fused/rows_ahead.cuh"
#include "engine/cuda/template_rows.cuh"
#include "engine/cuda/tiling.h"

namespace engine::cuda {

template <typename Storage>
struct FusedArrays {
  using Element = typename Storage::Element;
  using Root = typename Storage::Root;
  Element* template_rows = nullptr;
  const Element* spectra = nullptr;
  Element* exchange = nullptr;
  const Root* row_roots = nullptr;     // for transforms of a tile's rows
  const Root* column_roots = nullptr;  // for transforms of a tile's columns
};

template <int kLength, typename Storage>
using RowFft = BlockFft<kLength, Storage::kLines, typename Storage::Point, typename Storage::Root>;
template <int kLength, typename Storage>
using ColumnFft = BlockFft<kLength, Storage::kColumns / Storage::kLanes, typename Storage::Point,
                           typename Storage::Root>;

// True where a thread's next element of a stored line is whole chunks away.
template <int kLength, typename Storage>
constexpr bool kStepsAreChunks = FftOrder<kLength>::kThreads % Storage::kColumns == 0 &&
                                 FftOrder<kLength>::butterflies(2) % Storage::kColumns == 0;

// These return the bytes of shared memory that a block of each kernel needs.
template <int kLength, typename Storage>
constexpr size_t template_rows_shared() {
  return RowFft<kLength, Storage>::kSharedPoints * sizeof(typename Storage::Point);
}
template <int kLength, typename Storage>
constexpr size_t columns_shared() {
  using Fft = ColumnFft<kLength, Storage>;
  return Fft::kSharedPoints * sizeof(typename Storage::Point) +
         static_cast<size_t>(kLength) * Fft::kLines * sizeof(typename Storage::Element);
}
template <int kLength, typename Storage>
using AheadOf = RowsAhead<kLength, RowFft<kLength, Storage>::kThreads, Storage>;
template <int kLength, typename Storage, int kKept = RadicesOf<kLength>::kFirst,
          bool kAhead = false>
__host__ __device__ constexpr size_t last_rows_shared() {
  using Fft = RowFft<kLength, Storage>;
  return Fft::kSharedPoints * sizeof(typename Storage::Point) +
         static_cast<size_t>(kKept) * Fft::kThreads * Storage::kLanes * sizeof(PixelSlot) +
         (kAhead ? AheadOf<kLength, Storage>::kSharedBytes : 0);
}
// True where finish_rows has a kernel that reads ahead: where a multiprocessor then still holds as
// many blocks.
template <int kLength, int kKept, typename Storage>
constexpr bool kReadsAhead =
    FusedTuning<kLength, Storage>::blocks_of_rows(RowFft<kLength, Storage>::kThreads) *
        (last_rows_shared<kLength, Storage, kKept, true>() + kReservedBytes) <=
    kSharedBytesToReadAhead;

// Stores `count` Elements of kLanes values each. Grid: blocks over the Elements.
template <typename Storage>
__global__ void store_values(const float2* __restrict__ values, int count,
                             typename Storage::Element* __restrict__ out) {
  const auto i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  float2 lanes[Storage::kLanes];
#pragma unroll
  for (int lane = 0; lane < Storage::kLanes; ++lane) {
    lanes[lane] = values[Storage::kLanes * i + lane];
  }
  out[i] = Storage::narrow(Storage::point_of(lanes));
}

// Transforms the template's lines from kLines x blockIdx.x on of transform blockIdx.y, multiplied
// by `scale`. kInputs is that of BlockFft::forward_first(). Grid: blocks over the lines of n rows x
// transforms.
template <int kLength, int kInputs, typename Storage>
__global__ void __launch_bounds__(RowFft<kLength, Storage>::kThreads)
    transform_template_rows(FusedShape shape, Projections projections,
                            const Transform* __restrict__ transforms, float scale,
                            FusedArrays<Storage> arrays) {
  using Fft = RowFft<kLength, Storage>;
  using Order = typename Fft::Order;
  using Point = typename Storage::Point;
  static_assert(kStepsAreChunks<kLength, Storage>);
  Fft fft(shared_memory<Point>(), arrays.row_roots);
  const Transform transform = transforms[blockIdx.y];
  const int line = static_cast<int>(blockIdx.x) * Fft::kLines + fft.line();
  const int lines = shape.lines<Storage>(shape.n);
  Point x[Fft::kFirst];
  unrolled<kInputs>([&](auto i) {
    const int column = fft.thread() + i * Order::stride(0);
    float2 lanes[Storage::kLanes];
    unrolled<Storage::kLanes>([&](auto lane) {
      const int row = shape.row<Storage>(line, lane);
      lanes[lane] = make_float2(0.0f, 0.0f);
      if (column < shape.n && row < shape.n) {
        const float2 value = template_value(projections, transform, row, column);
        lanes[lane] = make_float2(value.x * scale, value.y * scale);
      }
    });
    x[i] = Storage::point_of(lanes);
  });
  fft.template forward_first<kInputs>(x);
  __syncthreads();
  fft.forward_middle();
  __syncthreads();
  auto* out = arrays.template_rows +
              shape.template_place<Storage>(static_cast<int>(blockIdx.y), line, fft.stored(0));
  fft.for_each_last([&](auto round) {
    Point y[Fft::kLast];
    fft.take_last(round, y);
    if (line >= lines) return;
#pragma unroll
    for (int i = 0; i < Fft::kLast; ++i) {
      const int columns = round * Order::kThreads + i * Fft::kStoredStep;
      out[static_cast<ptrdiff_t>(lines) * columns] = Storage::narrow(y[i]);
    }
  });
}

// Correlates the columns of one chunk of one transform. The template's transform is made once and
// multiplied by every tile's spectrum; a tile keeps at most the first kKept points of a thread.
// Grid: transforms x chunks, or chunks x transforms with `chunks_first`.
template <int kLength, int kInputs, int kKept, typename Storage>
__global__ void __launch_bounds__(
    ColumnFft<kLength, Storage>::kThreads,
    FusedTuning<kLength, Storage>::blocks_of_columns(ColumnFft<kLength, Storage>::kThreads))
    correlate_columns(FusedShape shape, bool chunks_first, FusedArrays<Storage> arrays) {
  using Fft = ColumnFft<kLength, Storage>;
  using Order = typename Fft::Order;
  using Element = typename Storage::Element;
  using Point = typename Storage::Point;
  // Distances between a thread's elements in a stored chunk: from one butterfly to the next, and
  // within one.
  constexpr int kRound = Fft::kThreads;
  constexpr int kNext = Fft::kStoredStep * Fft::kLines;
  const auto chunk = static_cast<int>(chunks_first ? blockIdx.x : blockIdx.y);
  const auto transform = static_cast<int>(chunks_first ? blockIdx.y : blockIdx.x);
  auto* exchange = shared_memory<Point>();
  Fft fft(exchange, arrays.column_roots);
  // The template's transform is kept here for all tiles; each thread reads only what it wrote.
  Element* kept = reinterpret_cast<Element*>(exchange + Fft::kSharedPoints) + threadIdx.x;
  const Element* spectrum = arrays.spectra + shape.spectrum_chunk<Storage>(chunk) + threadIdx.x;
  const int column = chunk * Storage::kColumns + fft.line() * Storage::kLanes;
  Element* out =
      arrays.exchange + shape.exchange_place<Storage>(0, transform, fft.thread(), column);

  Point x[Fft::kFirst];
  read_column<Storage, kInputs, Order::stride(0)>(
      arrays.template_rows + shape.template_place<Storage>(transform, fft.thread(), column),
      shape.n - fft.thread(), x);
  fft.template forward_first<kInputs>(x);
  __syncthreads();
  fft.forward_middle();
  __syncthreads();
  fft.for_each_last([&](auto round) {
    Point y[Fft::kLast];
    fft.take_last(round, y);
#pragma unroll
    for (int i = 0; i < Fft::kLast; ++i) {
      kept[round * kRound + i * kNext] = Storage::narrow(y[i]);
    }
  });
  for (int tile = 0; tile < shape.tiles; ++tile) {
    fft.for_each_last([&](auto round) {
      Point y[Fft::kLast];
#pragma unroll
      for (int i = 0; i < Fft::kLast; ++i) {
        const int at = round * kRound + i * kNext;
        y[i] = conjugate_product(Storage::widen(__ldcg(spectrum + at)), Storage::widen(kept[at]));
      }
      fft.give_last(round, y);
    });
    __syncthreads();
    fft.inverse_middle();
    __syncthreads();
    fft.inverse_first(x);
    write_column<Storage, Order::stride(0), kKept>(
        x, shape.exchange_lines<Storage>() - fft.thread(),
        static_cast<ptrdiff_t>(shape.columns) * Order::stride(0), out);
    spectrum += shape.spectrum_size<Storage>();
    out += shape.exchange_tile<Storage>();
    // The next tile overwrites what other threads may still be reading.
    __syncthreads();
  }
}

// Transforms back the lines from kLines x blockIdx.x on of tile blockIdx.y, for `count` <=
// kMostTransforms transforms, and adds them to the statistics. A tile keeps at most the first kKept
// points of a thread. With kAhead the exchange is read through shared memory, each transform during
// the work on the one before. Grid: blocks over the lines of the valid rows x tiles.
template <int kLength, int kKept, bool kAhead, typename Storage>
__global__ void __launch_bounds__(
    RowFft<kLength, Storage>::kThreads,
    FusedTuning<kLength, Storage>::blocks_of_rows(RowFft<kLength, Storage>::kThreads))
    finish_rows(FusedShape shape, const TilePlace* __restrict__ places,
                const Transform* __restrict__ transforms, int count, FusedArrays<Storage> arrays,
                int valid_width, Statistics statistics) {
  using Fft = RowFft<kLength, Storage>;
  using Order = typename Fft::Order;
  using Point = typename Storage::Point;
  static_assert(kStepsAreChunks<kLength, Storage>);
  auto* exchange = shared_memory<Point>();
  Fft fft(exchange, arrays.row_roots);
  const auto tile = static_cast<int>(blockIdx.y);
  const TilePlace place = places[tile];
  const int line = static_cast<int>(blockIdx.x) * Fft::kLines + fft.line();
  const int row = shape.row<Storage>(line, 0);
  using Sums = PixelSums<kKept, Storage::kLanes>;
  Sums sums(statistics,
            {.first = static_cast<size_t>(place.row + row) * static_cast<size_t>(valid_width) +
                      static_cast<size_t>(place.column + fft.thread()),
             .step = Order::stride(0),
             .lane_step = shape.lane_step * valid_width,
             .count = (place.columns - fft.thread() + Order::stride(0) - 1) / Order::stride(0),
             .lanes = shape.lanes_below<Storage>(line, place.rows)},
            reinterpret_cast<PixelSlot*>(exchange + Fft::kSharedPoints) + threadIdx.x,
            Fft::kThreads);
  const auto* in = arrays.exchange + shape.exchange_place<Storage>(tile, 0, line, fft.stored(0));
  using Ahead = AheadOf<kLength, Storage>;
  using Element = typename Storage::Element;
  constexpr size_t kBefore = last_rows_shared<kLength, Storage, kKept>();
  static_assert(kBefore % 16 == 0);
  auto* waiting = reinterpret_cast<Element*>(reinterpret_cast<unsigned char*>(exchange) + kBefore);
  const Ahead ahead(waiting,
                    arrays.exchange + shape.exchange_place<Storage>(tile, 0, line - fft.line(), 0));
  const Element* next = ahead.element(fft.line(), fft.stored(0));
  if constexpr (kAhead) {
    ahead.start(0);
    ahead.wait();
    __syncthreads();
  }

  for (int t = 0; t < count; ++t, in += shape.exchange_size<Storage>()) {
    const Transform transform = transforms[t];
    fft.for_each_last([&](auto round) {
      Point y[Fft::kLast];
#pragma unroll
      for (int i = 0; i < Fft::kLast; ++i) {
        const int columns = round * Order::kThreads + i * Fft::kStoredStep;
        if constexpr (kAhead) {
          y[i] = Storage::widen(next[Ahead::distance(columns)]);
        } else {
          y[i] = Storage::widen(__ldcs(in + columns * kChunkLines));
        }
      }
      fft.give_last(round, y);
    });
    __syncthreads();
    if constexpr (kAhead) {
      if (t + 1 < count) ahead.start(static_cast<size_t>(t + 1) * shape.exchange_size<Storage>());
    }
    fft.inverse_middle();
    __syncthreads();
    add_correlations<Storage>(fft, transform, sums);
    if constexpr (kAhead) ahead.wait();
    // The next transform overwrites what the others may still be reading.
    __syncthreads();
  }
  sums.store(static_cast<unsigned>(count));
}

}  // namespace engine::cuda
