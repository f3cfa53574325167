// The statistics of every pixel, as engine/numerics/statistics.h defines them: integers, so that
// the order of the work does not matter.
#pragma once

#include "engine/backend/transforms.h"
#include "engine/numerics/statistics.h"

namespace engine::cuda {

// Arrays on the device over the valid region, row-major.
struct Statistics {
  unsigned long long* best = nullptr;  // keys of pack_best; 0: nothing yet
  long long* sum = nullptr;
  long long* squares = nullptr;
  // The worst pixel whose values have left their range: its severity in the upper 32 bits, its
  // inverted index in the lower; 0: none.
  unsigned long long* fault = nullptr;
};

// Does what pack_best() of engine/numerics/statistics.h does.
__device__ inline unsigned long long best_key(float value, int index) {
  const unsigned bits = __float_as_uint(value + 0.0f);  // -0 becomes +0
  const unsigned ordered = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  return static_cast<unsigned long long>(ordered) << 32 |
         (0xffffffffu - static_cast<unsigned>(index));
}

// Adding the magic number 1.5 x 2^(23 - bits) makes a float's last bit worth 2^-bits: the addend is
// rounded to that, and the result's bits minus the magic number's are the addend in such steps.
constexpr float kSquareMagic = 1.5f * (1 << (23 - kSquareBits));
// A square, or u^2 + v^2, from this value on would leave the magic number's binade.
constexpr float kMagicLimit = kSquareMagic / 3.0f;

// Returns a sum rounded as the statistics require; right where magic_fits() is true.
__device__ __forceinline__ int rounded_sum(float sum) {
  constexpr float kScale = 1 << kSumBits;  // a power of two: the product is exact
  return __float2int_rn(sum * kScale);
}
// Returns u^2 + v^2 rounded as the statistics require, as bits from which the caller subtracts
// those of the magic number.
__device__ __forceinline__ unsigned square_with_magic(float u, float v) {
  return __float_as_uint(fmaf(u, u, fmaf(v, v, kSquareMagic)));
}
// True where `square`, a result of square_with_magic(), is valid. The largest of several squares
// decides for all; that of a NaN is larger than all others.
__device__ __forceinline__ bool magic_fits(unsigned square) {
  return square < __float_as_uint(kSquareMagic + kMagicLimit);
}
__device__ __forceinline__ long long square_without_magic(unsigned square, unsigned additions = 1) {
  return static_cast<int>(square - additions * __float_as_uint(kSquareMagic));
}

// The statistics of one pixel, while correlations are added.
struct PixelStatistics {
  unsigned long long best = 0;
  long long sum = 0, squares = 0;
  unsigned severity = 0;  // 0: all is in range

  // Adds to the sums only. v is 0 where there is no second correlation.
  __device__ void add_sums(float u, float v) {
    const unsigned square = square_with_magic(u, v);
    if (magic_fits(square)) {
      sum += rounded_sum(u + v);
      squares += square_without_magic(square);
    } else {
      add_large(u, v);
    }
    if (static_cast<unsigned long long>(squares) >= kSquareLimit) severity = max(severity, 1u);
  }
  // Adds values of any size in double, with the same rounding.
  __device__ void add_large(float u, float v) {
    const float square = fmaf(u, u, v * v);
    // The limit is the CPU's: beyond it a conversion may not fit. NaN counts as beyond.
    if (!(square < 2147483648.0f)) {
      severity = max(severity, __float_as_uint(square) & 0x7fffffffu);
      return;
    }
    constexpr double kMagic = 6755399441055744.0;  // 1.5 x 2^52
    constexpr double kScale = static_cast<double>(int64_t{1} << kSquareBits);
    const double wide_u = u;
    const double wide_v = v;
    // The products are exact.
    const double total = fma(wide_u * kScale, wide_u, fma(wide_v * kScale, wide_v, kMagic));
    squares += __double_as_longlong(total) - __double_as_longlong(kMagic);
    // This product is exact, too: by a power of two.
    sum += __float2ll_rn((u + v) * static_cast<float>(int64_t{1} << kSumBits));
  }
  __device__ void add_pair(float u, float v, const Transform& t) {
    add_sums(u, v);
    best = max(best, max(best_key(u, t.first), best_key(v, t.second)));
  }
  __device__ void add_single(float u, const Transform& t) {
    add_sums(u, 0.0f);
    best = max(best, best_key(u, t.first));
  }
};

__device__ inline PixelStatistics load_pixel(const Statistics& s, size_t pixel) {
  PixelStatistics p;
  p.best = s.best[pixel];
  p.sum = s.sum[pixel];
  p.squares = s.squares[pixel];
  return p;
}

__device__ inline void store_pixel(const PixelStatistics& p, const Statistics& s, size_t pixel) {
  s.best[pixel] = p.best;
  s.sum[pixel] = p.sum;
  s.squares[pixel] = p.squares;
  if (p.severity > 0) {
    atomicMax(s.fault, static_cast<unsigned long long>(p.severity) << 32 |
                           (0xffffffffu - static_cast<unsigned>(pixel)));
  }
}

// Adds the correlations rows[row][transform][column] of the first `used` transforms. Grid: blocks
// over the valid width x valid height.
static __global__ void accumulate(const float2* __restrict__ rows,
                                  const Transform* __restrict__ transforms, int used,
                                  int transforms_in_rows, int width, int valid_width,
                                  Statistics statistics) {
  const auto x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= valid_width) return;
  const size_t row = blockIdx.y;
  const size_t pixel = row * valid_width + x;
  PixelStatistics p = load_pixel(statistics, pixel);
  for (int t = 0; t < used; ++t) {
    const float2 value = __ldcs(rows + (row * transforms_in_rows + t) * width + x);
    if (transforms[t].second >= 0) {
      p.add_pair(value.x, value.y, transforms[t]);
    } else {
      p.add_single(value.x, transforms[t]);
    }
  }
  store_pixel(p, statistics, pixel);
}

__device__ inline float value_of_key(unsigned long long key) {
  const auto ordered = static_cast<unsigned>(key >> 32);
  return __uint_as_float((ordered & 0x80000000u) != 0 ? ordered & 0x7fffffffu : ~ordered);
}

// Does best_z() of engine/numerics/statistics.h: each block writes its largest value to
// largest[blockIdx.x]. Shared memory: kThreads doubles.
template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    find_best_z(Statistics s, size_t pixels, double correlations, double* __restrict__ largest) {
  double* best = shared_memory<double>();
  const auto thread = static_cast<int>(threadIdx.x);
  double mine = 0;
  const size_t step = static_cast<size_t>(gridDim.x) * kThreads;
  for (size_t i = static_cast<size_t>(blockIdx.x) * kThreads + thread; i < pixels; i += step) {
    constexpr double kSumUnit = 1.0 / static_cast<double>(int64_t{1} << kSumBits);
    constexpr double kSquareUnit = 1.0 / static_cast<double>(int64_t{1} << kSquareBits);
    const double mean = static_cast<double>(s.sum[i]) * kSumUnit / correlations;
    const double mean_square = static_cast<double>(s.squares[i]) * kSquareUnit / correlations;
    const double sd = sqrt(fmax(mean_square - mean * mean, 0.0));
    if (sd >= kSmallestDeviation) mine = fmax(mine, (value_of_key(s.best[i]) - mean) / sd);
  }
  best[thread] = mine;
  for (int width = kThreads / 2; width > 0; width /= 2) {
    __syncthreads();
    if (thread < width) best[thread] = fmax(best[thread], best[thread + width]);
  }
  if (thread == 0) largest[blockIdx.x] = best[0];
}

}  // namespace engine::cuda
