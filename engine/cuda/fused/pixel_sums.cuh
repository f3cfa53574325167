// Keeps the statistics of a thread's pixels in the last rows, and adds correlations to them.
#pragma once

#include <algorithm>

#include "engine/cuda/fused/fft_block.cuh"
#include "engine/cuda/fused/layout.cuh"
#include "engine/cuda/fused_tuning.h"
#include "engine/cuda/statistics.cuh"

namespace engine::cuda {

// The best correlation of a pixel, in shared memory to save registers.
struct alignas(8) PixelSlot {
  float best;
  int index;
};

// Sums of up to kMostTransforms correlations, or pairs, modulo 2^32; `squares` includes the magic
// number of each addition.
struct FixedSums {
  unsigned sum = 0;
  unsigned squares = 0;
};
// Values that fit the magic number cannot overflow these sums: a square is at most 2^22 steps, and
// (u + v)^2 is at most twice u^2 + v^2.
static_assert(kMostTransforms <= 256 && kSumBits == 20 &&
              2 * kMagicLimit * kMostTransforms * kMostTransforms < 1 << 2 * (31 - kSumBits));

// The places of a thread's pixels in the statistics.
struct PixelPlaces {
  size_t first = 0;   // index of the first pixel
  int step = 1;       // to the next pixel along the row
  int lane_step = 0;  // to the same pixel of the next lane
  int count = 0;      // valid pixels of each lane
  int lanes = 1;      // valid lanes
};

// The pixels of one thread in the last rows, the first kPoints of each lane, while the transforms
// of a batch are added.
template <int kPoints, int kLanes>
class PixelSums {
 public:
  // `slots` are this thread's kPoints x kLanes slots, `threads` apart.
  __device__ __forceinline__ PixelSums(const Statistics& statistics, const PixelPlaces& places,
                                       PixelSlot* slots, int threads)
      : statistics_(statistics), places_(places), slots_(slots), threads_(threads) {
    if (places_.lanes == 0) places_.count = 0;
    unrolled<kPixels>([&](auto i) { slots_[i * threads_] = slot_of(i); });
  }

  // Adds the next transform's correlations at the points kFrom, kFrom + kBy, ... of a lane; the
  // second of a pair is 0 where the transform has none. Returns the largest square_with_magic():
  // where magic_fits() is false for it, correct() must follow.
  template <int kLane, int kFrom, int kBy, int kCount>
  __device__ __forceinline__ unsigned add(const float2 (&x)[kCount], const Transform& transform) {
    constexpr int kBase = kLane * kPoints + kFrom;
    const bool pair = transform.second >= 0;
    unsigned largest = 0;
    unrolled<kKept<kFrom, kBy, kCount>>([&](auto i) {
      constexpr int kPixel = kBase + i * kBy;
      const bool later = pair && x[i].y > x[i].x;
      const float value = later ? x[i].y : x[i].x;
      const int index = later ? transform.second : transform.first;
      const PixelSlot slot = slots_[kPixel * threads_];
      if (value > slot.best || (value == slot.best && index < slot.index)) {
        slots_[kPixel * threads_] = {value, index};
      }
      const unsigned square = square_with_magic(x[i].x, x[i].y);
      largest = max(largest, square);
      sums_[kPixel].sum += static_cast<unsigned>(rounded_sum(x[i].x + x[i].y));
      sums_[kPixel].squares += square;
    });
    return largest;
  }
  // Takes back the correlations that did not fit the magic number, and adds them in double.
  template <int kLane, int kFrom, int kBy, int kCount>
  __device__ __forceinline__ void correct(const float2 (&x)[kCount]) {
    constexpr int kBase = kLane * kPoints + kFrom;
#pragma unroll 1
    for (int which = 0; which < kKept<kFrom, kBy, kCount>; ++which) {
      float2 value = x[0];
      unrolled<kKept<kFrom, kBy, kCount>>([&](auto i) {
        if (i != which) return;
        value = x[i];
        if (magic_fits(square_with_magic(value.x, value.y))) return;
        sums_[kBase + i * kBy].sum -= static_cast<unsigned>(rounded_sum(value.x + value.y));
        sums_[kBase + i * kBy].squares -=
            square_with_magic(value.x, value.y) - __float_as_uint(kSquareMagic);
      });
      const int pixel = kBase + which * kBy;
      if (!valid(pixel) || magic_fits(square_with_magic(value.x, value.y))) continue;
      PixelStatistics p = load_pixel(statistics_, place_of(pixel));
      p.add_sums(value.x, value.y);
      store_pixel(p, statistics_, place_of(pixel));
    }
  }

  // Adds the sums of `additions` transforms to the statistics.
  __device__ __forceinline__ void store(unsigned additions) const {
    unrolled<kPixels>([&](auto i) {
      if (!valid(i)) return;
      const size_t at = place_of(i);
      PixelStatistics p = load_pixel(statistics_, at);
      const PixelSlot slot = slots_[i * threads_];
      p.best = max(p.best, best_key(slot.best, slot.index));
      p.sum += static_cast<int>(sums_[i].sum);
      p.squares += square_without_magic(sums_[i].squares, additions);
      if (static_cast<unsigned long long>(p.squares) >= kSquareLimit) p.severity = 1;
      store_pixel(p, statistics_, at);
    });
  }

 private:
  static constexpr int kPixels = kPoints * kLanes;
  // How many of the kCount points kFrom, kFrom + kBy, ... are below kPoints.
  template <int kFrom, int kBy, int kCount>
  static constexpr int kKept = std::min(kCount, (kPoints - kFrom + kBy - 1) / kBy);

  __device__ __forceinline__ bool valid(int pixel) const {
    if constexpr (kLanes == 1) return pixel < places_.count;
    return pixel % kPoints < places_.count && pixel / kPoints < places_.lanes;
  }
  __device__ __forceinline__ size_t place_of(int pixel) const {
    if constexpr (kLanes == 1) return places_.first + static_cast<size_t>(pixel * places_.step);
    return places_.first + static_cast<size_t>(pixel % kPoints * places_.step +
                                               pixel / kPoints * places_.lane_step);
  }
  // A pixel that is not valid gets a best value that nothing exceeds.
  __device__ __forceinline__ PixelSlot slot_of(int pixel) const {
    if (!valid(pixel)) return {INFINITY, -1};
    const unsigned long long key = statistics_.best[place_of(pixel)];
    if (key == 0) return {-INFINITY, 0x7fffffff};
    return {value_of_key(key), static_cast<int>(0xffffffffu - static_cast<unsigned>(key))};
  }

  Statistics statistics_;
  PixelPlaces places_;
  PixelSlot* slots_;
  int threads_;
  FixedSums sums_[kPixels];
};

// Clears the imaginary part, which is only rounding error where the transform has no second
// correlation.
template <int kCount>
__device__ __forceinline__ void clear_second(float2 (&x)[kCount]) {
  unrolled<kCount>([&](auto i) { x[i].y = 0.0f; });
}

// Does the last stage of the block's inverse transform and adds the correlations to `sums`.
template <typename Storage, typename Fft, typename Sums>
__device__ __forceinline__ void add_correlations(Fft& fft, const Transform& transform, Sums& sums) {
  // Where a correlation is too large for the fast sums the stage is done twice, so that no result
  // has to be kept.
#pragma unroll 1
  for (bool again = false;; again = true) {
    typename Storage::Point x[Fft::kFirst];
    unsigned largest = 0;
    const bool single = transform.second < 0;
    const auto use = [&]<int kLane, int kFrom, int kBy>(Index<kLane>, Index<kFrom>, Index<kBy>,
                                                        auto& part) {
      if (again) {
        sums.template correct<kLane, kFrom, kBy>(part);
      } else {
        largest = max(largest, sums.template add<kLane, kFrom, kBy>(part, transform));
      }
    };
    if constexpr (Storage::kLanes == 1) {
      fft.inverse_first(x);
      if (single) clear_second(x);
      use(Index<0>{}, Index<0>{}, Index<1>{}, x);
    } else {
      fft.take_first(x);
      finish_inverse<Fft::kFirst>(x, [&](auto k, auto& first, auto& second) {
        constexpr Index<Fft::kFirst / kGroup<Fft::kFirst>> kBy;
        if (single) {
          clear_second(first);
          clear_second(second);
        }
        use(Index<0>{}, k, kBy, first);
        use(Index<1>{}, k, kBy, second);
      });
    }
    if (again || magic_fits(largest)) return;
  }
}

}  // namespace engine::cuda
