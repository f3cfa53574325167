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

// Rows that one block transforms at once: two fill a sector of a chunk.
constexpr int kRowsPerBlock = 2;

template <typename Storage>
struct FusedArrays {
  using Element = typename Storage::Element;
  Element* template_rows = nullptr;
  const Element* spectra = nullptr;
  Element* exchange = nullptr;
  const float2* row_roots = nullptr;     // make_roots of the columns' number
  const float2* column_roots = nullptr;  // and of the rows'
};

// Bytes of shared memory.
template <int kLength>
constexpr size_t template_rows_shared() {
  return BlockFft<kLength, kRowsPerBlock>::kSharedPoints * sizeof(float2);
}
template <int kLength, typename Storage>
constexpr size_t columns_shared() {
  return BlockFft<kLength, Storage::kColumns>::kSharedPoints * sizeof(float2) +
         static_cast<size_t>(kLength) * Storage::kColumns * sizeof(typename Storage::Element);
}
template <int kLength>
constexpr size_t last_rows_shared() {
  return BlockFft<kLength, kRowsPerBlock>::kSharedPoints * sizeof(float2) +
         static_cast<size_t>(kLength) * kRowsPerBlock * sizeof(float);
}

// Stores `count` values. Grid: blocks over them.
template <typename Storage>
__global__ void store_values(const float2* __restrict__ values, int count,
                             typename Storage::Element* __restrict__ out) {
  const auto i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[i] = Storage::narrow(values[i]);
}

// Rows kRowsPerBlock x blockIdx.x ... of transform blockIdx.y, multiplied by `scale`. kInputs: see
// BlockFft::forward_first. Grid: blocks over n x transforms.
template <int kLength, int kInputs, typename Storage>
__global__ void __launch_bounds__(BlockFft<kLength, kRowsPerBlock>::kThreads)
    transform_template_rows(FusedShape shape, Projections projections,
                            const Transform* __restrict__ transforms, float scale,
                            FusedArrays<Storage> arrays) {
  using Fft = BlockFft<kLength, kRowsPerBlock>;
  using Order = typename Fft::Order;
  Fft fft(shared_memory<float2>(), arrays.row_roots);
  const Transform transform = transforms[blockIdx.y];
  const int row = static_cast<int>(blockIdx.x) * kRowsPerBlock + fft.line();
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
__global__ void __launch_bounds__(BlockFft<kLength, Storage::kColumns>::kThreads)
    correlate_columns(FusedShape shape, int transforms, FusedArrays<Storage> arrays) {
  using Fft = BlockFft<kLength, Storage::kColumns>;
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
  // `first`: the number of the first pixel in the statistics, the others `stride` apart; `count` of
  // them are valid. `to_beat`: in shared memory, for this thread alone, kPixels `threads` apart.
  __device__ __forceinline__ PixelSums(const Statistics& statistics, size_t first, int stride,
                                       int count, float scale, float* to_beat, int threads)
      : statistics_(statistics),
        first_(first),
        stride_(stride),
        count_(count),
        scale_(scale),
        square_scale_(scale * scale),
        fast_limit_(kFastSquareLimit / (scale * scale)),
        to_beat_(to_beat),
        threads_(threads) {
    unrolled<kPixels>([&](auto i) { to_beat_[i * threads_] = beaten_from(i); });
  }

  __device__ __forceinline__ void add(const float2 (&x)[kPixels], const Transform& transform) {
    const bool single = transform.second < 0;
    unsigned rare = 0;
    unrolled<kPixels>([&](auto i) {
      const float u = x[i].x;
      const float v = single ? 0.0f : x[i].y;
      float sum = u + v;
      float square = fmaf(u, u, v * v);
      const float largest = single ? u : fmaxf(u, v);
      const bool fits = square < fast_limit_;
      // Also what is not a number.
      if (!fits || largest >= to_beat_[i * threads_]) rare |= 1u << i;
      sums_[i].add(fits ? sum : 0.0f, fits ? square : 0.0f, scale_, square_scale_);
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
      p.sum += sums_[i].sum(additions_);
      p.squares += sums_[i].squares(additions_);
      if (static_cast<unsigned long long>(p.squares) >= kSquareLimit) p.severity = 1;
      store_pixel(p, statistics_, at);
    });
  }

 private:
  // From which value on, before it is scaled, a correlation may be the pixel's new best one.
  __device__ __forceinline__ float beaten_from(int pixel) const {
    if (pixel >= count_) return INFINITY;
    const unsigned long long key = statistics_.best[first_ + static_cast<size_t>(pixel * stride_)];
    return key == 0 ? -INFINITY : value_of_key(key) / scale_;
  }

  // A value that may be the best one, or is too large for the fast sums.
  __device__ __forceinline__ void note(int pixel, float2 value, const Transform& t) {
    const float u = value.x * scale_;
    const float v = value.y * scale_;
    const bool single = t.second < 0;
    const float square = single ? u * u : fmaf(u, u, v * v);
    const size_t at = first_ + static_cast<size_t>(pixel * stride_);
    PixelStatistics p = load_pixel(statistics_, at);
    const unsigned long long key =
        single ? best_key(u, t.first) : max(best_key(u, t.first), best_key(v, t.second));
    if (square < kFastSquareLimit) {
      p.best = max(p.best, key);
    } else {
      p.add(single ? u : u + v, square, key);
    }
    store_pixel(p, statistics_, at);
    to_beat_[pixel * threads_] = beaten_from(pixel);
  }

  Statistics statistics_;
  size_t first_;
  int stride_;
  int count_;
  float scale_;
  float square_scale_;
  float fast_limit_;
  float* to_beat_;
  int threads_;
  unsigned additions_ = 0;
  FixedSums sums_[kPixels];
};

// Rows kRowsPerBlock x blockIdx.x ... of tile blockIdx.y, for `count` <= kMostAdditions transforms.
// `scale`, a power of two, makes correlations of what comes out. Grid: blocks over the valid rows x
// tiles.
template <int kLength, typename Storage>
__global__ void __launch_bounds__(BlockFft<kLength, kRowsPerBlock>::kThreads)
    finish_rows(FusedShape shape, const TilePlace* __restrict__ places,
                const Transform* __restrict__ transforms, int count, float scale,
                FusedArrays<Storage> arrays, int valid_width, Statistics statistics) {
  using Fft = BlockFft<kLength, kRowsPerBlock>;
  using Order = typename Fft::Order;
  auto* exchange = shared_memory<float2>();
  Fft fft(exchange, arrays.row_roots);
  const auto tile = static_cast<int>(blockIdx.y);
  const TilePlace place = places[tile];
  const int row = static_cast<int>(blockIdx.x) * kRowsPerBlock + fft.line();
  const int pixels_left = row < place.rows ? place.columns - fft.thread() : 0;
  const size_t first = static_cast<size_t>(place.row + row) * static_cast<size_t>(valid_width) +
                       static_cast<size_t>(place.column + fft.thread());
  PixelSums<Fft::kFirst> sums(
      statistics, first, Order::stride(0), (pixels_left + Order::stride(0) - 1) / Order::stride(0),
      scale, reinterpret_cast<float*>(exchange + Fft::kSharedPoints) + threadIdx.x, Fft::kThreads);

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
