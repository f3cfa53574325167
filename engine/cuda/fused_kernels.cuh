// The fused path: three kernels over overlap-save tiles. The template's rows forward; columns
// forward, product with every tile's spectrum, columns back; last rows back, with the statistics.
// Each works on a batch of transforms, and no number depends on what else is in the batch.
#pragma once

#include "engine/cuda/fft_block.cuh"
#include "engine/cuda/fused_layout.cuh"
#include "engine/cuda/fused_sums.cuh"
#include "engine/cuda/statistics.cuh"
#include "engine/cuda/template_rows.cuh"
#include "engine/cuda/tiling.h"
#include "engine/cuda/transforms.h"

namespace engine::cuda {

template <typename Storage>
struct FusedArrays {
  using Element = typename Storage::Element;
  Element* template_rows = nullptr;
  const Element* spectra = nullptr;
  Element* exchange = nullptr;
  const float2* row_roots = nullptr;     // make_roots of the columns' number
  const float2* column_roots = nullptr;  // and of the rows'
};

// Rows that a block works on at once: four of the longest would not fit into shared memory.
template <int kLength, typename Storage>
constexpr int kRowsOfBlock = kLength > 2304 ? 2 : Storage::kRows;
template <int kLength, typename Storage>
using RowFft = BlockFft<kLength, kRowsOfBlock<kLength, Storage>>;
template <int kLength, typename Storage>
using ColumnFft = BlockFft<kLength, Storage::kColumns>;

// Blocks that the registers of a multiprocessor are shared among, so that about `threads` work at
// once: with more the compiler would have to spill. See docs/cuda.md.
constexpr int blocks_for_registers(int threads, int in_block) {
  return threads > in_block ? threads / in_block : 1;
}
constexpr int kColumnThreads = 896;  // 72 registers each
constexpr int kRowThreads = 640;     // 96

// Bytes of shared memory.
template <int kLength, typename Storage>
constexpr size_t template_rows_shared() {
  return RowFft<kLength, Storage>::kSharedPoints * sizeof(float2);
}
template <int kLength, typename Storage>
constexpr size_t columns_shared() {
  return ColumnFft<kLength, Storage>::kSharedPoints * sizeof(float2) +
         static_cast<size_t>(kLength) * Storage::kColumns * sizeof(typename Storage::Element);
}
template <int kLength, typename Storage>
constexpr size_t last_rows_shared() {
  return RowFft<kLength, Storage>::kSharedPoints * sizeof(float2) +
         static_cast<size_t>(kLength) * kRowsOfBlock<kLength, Storage> * sizeof(uint2);
}

// Stores `count` values. Grid: blocks over them.
template <typename Storage>
__global__ void store_values(const float2* __restrict__ values, int count,
                             typename Storage::Element* __restrict__ out) {
  const auto i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[i] = Storage::narrow(values[i]);
}

// Rows kRowsOfBlock x blockIdx.x ... of transform blockIdx.y, multiplied by `scale`. kInputs: see
// BlockFft::forward_first. Grid: blocks over n x transforms.
template <int kLength, int kInputs, typename Storage>
__global__ void __launch_bounds__(RowFft<kLength, Storage>::kThreads)
    transform_template_rows(FusedShape shape, Projections projections,
                            const Transform* __restrict__ transforms, float scale,
                            FusedArrays<Storage> arrays) {
  using Fft = RowFft<kLength, Storage>;
  using Order = typename Fft::Order;
  Fft fft(shared_memory<float2>(), arrays.row_roots);
  const Transform transform = transforms[blockIdx.y];
  const int row = static_cast<int>(blockIdx.x) * kRowsOfBlock<kLength, Storage> + fft.line();
  float2 x[Fft::kFirst];
  unrolled<kInputs>([&](auto i) {
    const int column = fft.thread() + i * Order::stride(0);
    x[i] = make_float2(0.0f, 0.0f);
    if (column < shape.n && row < shape.n) {
      const float2 value = template_value(projections, transform, row, column);
      x[i] = make_float2(value.x * scale, value.y * scale);
    }
  });
  fft.template forward_first<kInputs>(x);
  __syncthreads();
  fft.forward_middle();
  __syncthreads();
  fft.for_each_last([&](int butterfly) {
    float2 y[Fft::kLast];
    fft.take_last(butterfly, y);
    if (row >= shape.n) return;
    unrolled<Fft::kLast>([&](auto i) {
      const int column = Order::stored(butterfly, i);
      const size_t chunk =
          shape.template_chunk<Storage>(static_cast<int>(blockIdx.y), column / Storage::kColumns);
      arrays.template_rows[chunk + static_cast<size_t>(row) * Storage::kColumns +
                           column % Storage::kColumns] = Storage::narrow(y[i]);
    });
  });
}

// Columns kColumns x blockIdx.x ... of the transforms blockIdx.y, blockIdx.y + gridDim.y, ...: the
// template's transform is made once and multiplied with every tile. Grid: chunks x any number.
template <int kLength, int kInputs, typename Storage>
__global__ void __launch_bounds__(ColumnFft<kLength, Storage>::kThreads,
                                  blocks_for_registers(kColumnThreads,
                                                       ColumnFft<kLength, Storage>::kThreads))
    correlate_columns(FusedShape shape, int transforms, FusedArrays<Storage> arrays) {
  using Fft = ColumnFft<kLength, Storage>;
  using Order = typename Fft::Order;
  using Element = typename Storage::Element;
  constexpr int kColumns = Storage::kColumns;
  auto* exchange = shared_memory<float2>();
  Fft fft(exchange, arrays.column_roots);
  // The template's transform waits here for the next tile; no thread reads another's.
  auto* kept = reinterpret_cast<Element*>(exchange + Fft::kSharedPoints) + fft.line();
  const int chunk = static_cast<int>(blockIdx.x);
  const int out_column = shape.exchange_column<Storage>(chunk * kColumns) + fft.line();

  for (int t = static_cast<int>(blockIdx.y); t < transforms; t += static_cast<int>(gridDim.y)) {
    const Element* in = arrays.template_rows + shape.template_chunk<Storage>(t, chunk) + fft.line();
    float2 x[Fft::kFirst];
    unrolled<kInputs>([&](auto i) {
      const int row = fft.thread() + i * Order::stride(0);
      x[i] = row < shape.n ? Storage::widen(__ldg(in + row * kColumns)) : make_float2(0.0f, 0.0f);
    });
    fft.template forward_first<kInputs>(x);
    __syncthreads();
    fft.forward_middle();
    __syncthreads();
    fft.for_each_last([&](int butterfly) {
      float2 y[Fft::kLast];
      fft.take_last(butterfly, y);
      unrolled<Fft::kLast>(
          [&](auto i) { kept[Order::stored(butterfly, i) * kColumns] = Storage::narrow(y[i]); });
    });
    for (int tile = 0; tile < shape.tiles; ++tile) {
      // The tile before has been read to its end. (The first one overwrites what the thread itself
      // has read.)
      if (tile > 0) __syncthreads();
      const Element* spectrum =
          arrays.spectra + shape.spectrum_chunk<Storage>(tile, chunk) + fft.line();
      fft.for_each_last([&](int butterfly) {
        float2 y[Fft::kLast];
        unrolled<Fft::kLast>([&](auto i) {
          const int at = Order::stored(butterfly, i) * kColumns;
          y[i] = conjugate_product(Storage::widen(__ldg(spectrum + at)), Storage::widen(kept[at]));
        });
        fft.give_last(butterfly, y);
      });
      __syncthreads();
      fft.inverse_middle();
      __syncthreads();
      fft.inverse_first(x);
      Element* out = arrays.exchange + shape.exchange_plane(tile, t) + out_column;
      unrolled<Fft::kFirst>([&](auto i) {
        const int row = fft.thread() + i * Order::stride(0);
        if (row < shape.exchange_rows()) {
          out[shape.exchange_row<Storage>(row)] = Storage::narrow(x[i]);
        }
      });
    }
  }
}

// The pixels of one thread in the last rows, while the transforms of a batch pass by.
template <int kPixels>
class PixelSums {
 public:
  // What shared memory keeps of a pixel, to save registers: the value from which on a correlation
  // may be the new best one, and what FixedSums leaves to others.
  struct alignas(8) Slot {
    float to_beat;
    unsigned rests;
  };

  // `first`: the number of the first pixel in the statistics, the others `stride` apart; `count` of
  // them are valid. `slots`: for this thread alone, kPixels of them `threads` apart.
  __device__ __forceinline__ PixelSums(const Statistics& statistics, size_t first, int stride,
                                       int count, Slot* slots, int threads)
      : statistics_(statistics),
        first_(first),
        stride_(stride),
        count_(count),
        slots_(slots),
        threads_(threads) {
    unrolled<kPixels>([&](auto i) { slots_[i * threads_] = {beaten_from(i), 0}; });
  }

  __device__ __forceinline__ void add(float2 (&x)[kPixels], const Transform& transform) {
    if (transform.second < 0) {
      unrolled<kPixels>([&](auto i) { x[i].y = 0.0f; });
    }
    unsigned rare = 0;
    unrolled<kPixels>([&](auto i) {
      const float sum = x[i].x + x[i].y;
      const float square = fmaf(x[i].x, x[i].x, x[i].y * x[i].y);
      const bool fits = square < kFastSquareLimit;
      Slot slot = slots_[i * threads_];
      // Also what is not a number.
      if (!fits || fmaxf(x[i].x, x[i].y) >= slot.to_beat) rare |= 1u << i;
      sums_[i].add(fits ? sum : 0.0f, fits ? square : 0.0f, slot.rests);
      slots_[i * threads_].rests = slot.rests;
    });
    ++additions_;
    while (rare != 0) {
      const int pixel = __ffs(static_cast<int>(rare)) - 1;
      rare &= rare - 1;
      float2 value = x[0];
      unrolled<kPixels>([&](auto i) {
        if (i == pixel) value = x[i];
      });
      if (pixel < count_) note(pixel, value, transform);
    }
  }

  __device__ __forceinline__ void store() const {
    unrolled<kPixels>([&](auto i) {
      if (i >= count_) return;
      const size_t at = first_ + static_cast<size_t>(i * stride_);
      PixelStatistics p = load_pixel(statistics_, at);
      const unsigned rests = slots_[i * threads_].rests;
      p.sum += sums_[i].sum(additions_, rests);
      p.squares += sums_[i].squares(additions_, rests);
      if (static_cast<unsigned long long>(p.squares) >= kSquareLimit) p.severity = 1;
      store_pixel(p, statistics_, at);
    });
  }

 private:
  __device__ __forceinline__ float beaten_from(int pixel) const {
    if (pixel >= count_) return INFINITY;
    const unsigned long long key = statistics_.best[first_ + static_cast<size_t>(pixel * stride_)];
    return key == 0 ? -INFINITY : value_of_key(key);
  }

  // A value that may be the best one, or is too large for the fast sums.
  __device__ __forceinline__ void note(int pixel, float2 value, const Transform& t) {
    const float square = fmaf(value.x, value.x, value.y * value.y);
    const size_t at = first_ + static_cast<size_t>(pixel * stride_);
    PixelStatistics p = load_pixel(statistics_, at);
    unsigned long long key = best_key(value.x, t.first);
    if (t.second >= 0) key = max(key, best_key(value.y, t.second));
    if (square < kFastSquareLimit) {
      p.best = max(p.best, key);
    } else {
      p.add(value.x + value.y, square, key);
    }
    store_pixel(p, statistics_, at);
    slots_[pixel * threads_].to_beat = beaten_from(pixel);
  }

  Statistics statistics_;
  size_t first_;
  int stride_;
  int count_;
  Slot* slots_;
  int threads_;
  unsigned additions_ = 0;
  FixedSums sums_[kPixels];
};

// Rows kRowsOfBlock x blockIdx.x ... of tile blockIdx.y, for `count` <= kMostAdditions transforms.
// Grid: blocks over the valid rows x tiles.
template <int kLength, typename Storage>
__global__ void __launch_bounds__(RowFft<kLength, Storage>::kThreads,
                                  blocks_for_registers(kRowThreads,
                                                       RowFft<kLength, Storage>::kThreads))
    finish_rows(FusedShape shape, const TilePlace* __restrict__ places,
                const Transform* __restrict__ transforms, int count, FusedArrays<Storage> arrays,
                int valid_width, Statistics statistics) {
  using Fft = RowFft<kLength, Storage>;
  using Order = typename Fft::Order;
  auto* exchange = shared_memory<float2>();
  Fft fft(exchange, arrays.row_roots);
  const auto tile = static_cast<int>(blockIdx.y);
  const TilePlace place = places[tile];
  const int row = static_cast<int>(blockIdx.x) * kRowsOfBlock<kLength, Storage> + fft.line();
  const int pixels_left = row < place.rows ? place.columns - fft.thread() : 0;
  const size_t first = static_cast<size_t>(place.row + row) * static_cast<size_t>(valid_width) +
                       static_cast<size_t>(place.column + fft.thread());
  using Sums = PixelSums<Fft::kFirst>;
  Sums sums(statistics, first, Order::stride(0),
            (pixels_left + Order::stride(0) - 1) / Order::stride(0),
            reinterpret_cast<typename Sums::Slot*>(exchange + Fft::kSharedPoints) + threadIdx.x,
            Fft::kThreads);

  for (int t = 0; t < count; ++t) {
    const auto* in =
        arrays.exchange + shape.exchange_plane(tile, t) + shape.exchange_row<Storage>(row);
    fft.for_each_last([&](int butterfly) {
      float2 y[Fft::kLast];
      unrolled<Fft::kLast>([&](auto i) {
        y[i] = Storage::widen(
            __ldcs(in + shape.exchange_column<Storage>(Order::stored(butterfly, i))));
      });
      fft.give_last(butterfly, y);
    });
    __syncthreads();
    fft.inverse_middle();
    __syncthreads();
    float2 x[Fft::kFirst];
    fft.inverse_first(x);
    sums.add(x, transforms[t]);
    // The next transform overwrites what the others may still be reading.
    __syncthreads();
  }
  sums.store();
}

}  // namespace engine::cuda
