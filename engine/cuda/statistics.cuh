// What a search keeps of every pixel, as engine/numerics/statistics.h defines it: integers, so that
// the order of the work does not matter.
#pragma once

#include "engine/backend/transforms.h"
#include "engine/numerics/statistics.h"

namespace engine::cuda {

// On the device, over the valid region row by row.
struct Statistics {
  unsigned long long* best = nullptr;  // keys of pack_best; 0: nothing yet
  long long* sum = nullptr;
  long long* squares = nullptr;
  // The worst pixel whose values have left their range: severity in the upper half, the pixel's
  // number, inverted, in the lower; 0: none.
  unsigned long long* fault = nullptr;
};

// pack_best of engine/numerics/statistics.h.
__device__ inline unsigned long long best_key(float value, int index) {
  const unsigned bits = __float_as_uint(value + 0.0f);  // -0 becomes +0
  const unsigned ordered = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  return static_cast<unsigned long long>(ordered) << 32 |
         (0xffffffffu - static_cast<unsigned>(index));
}

// One pixel's share of the statistics, while its correlations are counted.
struct PixelStatistics {
  unsigned long long best = 0;
  long long sum = 0, squares = 0;
  unsigned severity = 0;  // 0: all is in range

  __device__ void add(float sum_of_values, float sum_of_squares, unsigned long long key) {
    constexpr float kSumScale = static_cast<float>(int64_t{1} << kSumBits);
    constexpr float kSquareScale = static_cast<float>(int64_t{1} << kSquareBits);
    // The same limit as on the processor, beyond which a conversion may not fit. NaN is beyond.
    if (!(sum_of_squares < 2147483648.0f)) {
      severity = max(severity, __float_as_uint(sum_of_squares) & 0x7fffffffu);
      return;
    }
    // Powers of two: the products are exact.
    sum += __float2ll_rn(sum_of_values * kSumScale);
    squares += __float2ll_rn(sum_of_squares * kSquareScale);
    best = max(best, key);
    if (static_cast<unsigned long long>(squares) >= kSquareLimit) severity = max(severity, 1u);
  }
  __device__ void add_pair(float u, float v, const Transform& t) {
    add(u + v, fmaf(u, u, v * v), max(best_key(u, t.first), best_key(v, t.second)));
  }
  __device__ void add_single(float u, const Transform& t) { add(u, u * u, best_key(u, t.first)); }
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

// Adds the first `used` of the correlations rows[row][transform][column]. Grid: blocks over the
// valid width x valid height.
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

// best_z of engine/numerics/statistics.h: the largest of each block into largest[blockIdx.x].
// Shared memory: kThreads doubles.
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
    if (sd > 0) mine = fmax(mine, (value_of_key(s.best[i]) - mean) / sd);
  }
  best[thread] = mine;
  for (int width = kThreads / 2; width > 0; width /= 2) {
    __syncthreads();
    if (thread < width) best[thread] = fmax(best[thread], best[thread + width]);
  }
  if (thread == 0) largest[blockIdx.x] = best[0];
}

}  // namespace engine::cuda
