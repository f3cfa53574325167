// The statistics of the pixels that a thread of the last rows has, and how they get their values.
#pragma once

#include "engine/cuda/fused/fft_block.cuh"
#include "engine/cuda/fused/layout.cuh"
#include "engine/cuda/fused/sums.cuh"
#include "engine/cuda/statistics.cuh"

namespace engine::cuda {

// What shared memory keeps of a pixel, to save registers: the value from which on a correlation
// may be the new best one, and what FixedSums leaves to others.
struct alignas(8) PixelSlot {
  float to_beat;
  unsigned rests;
};

// Where a thread's pixels are in the statistics.
struct PixelPlaces {
  size_t first = 0;   // the number of the first pixel
  int step = 1;       // to the next one along the row
  int lane_step = 0;  // to the same one of the next lane
  int count = 0;      // that are valid, of each lane
  int lanes = 1;      // that are valid
};

// The pixels of one thread in the last rows, kPoints of each lane, while the transforms of a batch
// pass by.
template <int kPoints, int kLanes>
class PixelSums {
 public:
  // `slots`: for this thread alone, kPoints x kLanes of them `threads` apart.
  __device__ __forceinline__ PixelSums(const Statistics& statistics, const PixelPlaces& places,
                                       PixelSlot* slots, int threads)
      : statistics_(statistics), places_(places), slots_(slots), threads_(threads) {
    if (places_.lanes == 0) places_.count = 0;
    unrolled<kPixels>([&](auto i) { slots_[i * threads_] = {beaten_from(i), 0}; });
  }

  // Begins with the next transform.
  __device__ __forceinline__ void begin() { ++additions_; }

  // Its correlations at the points kFrom, kFrom + kBy, ... of a lane.
  template <int kLane, int kFrom, int kBy, int kCount>
  __device__ __forceinline__ void add(float2 (&x)[kCount], const Transform& transform) {
    constexpr int kBase = kLane * kPoints + kFrom;
    if (transform.second < 0) {
      unrolled<kCount>([&](auto i) { x[i].y = 0.0f; });
    }
    unsigned rare = 0;
    unrolled<kCount>([&](auto i) {
      constexpr int kPixel = kBase + i * kBy;
      const float sum = x[i].x + x[i].y;
      const float square = fmaf(x[i].x, x[i].x, x[i].y * x[i].y);
      const bool fits = square < kFastSquareLimit;
      PixelSlot slot = slots_[kPixel * threads_];
      // Also what is not a number.
      if (!fits || fmaxf(x[i].x, x[i].y) >= slot.to_beat) rare |= 1u << i;
      sums_[kPixel].add(fits ? sum : 0.0f, fits ? square : 0.0f, slot.rests);
      slots_[kPixel * threads_].rests = slot.rests;
    });
    while (rare != 0) {
      const int which = __ffs(static_cast<int>(rare)) - 1;
      rare &= rare - 1;
      float2 value = x[0];
      unrolled<kCount>([&](auto i) {
        if (i == which) value = x[i];
      });
      const int pixel = kBase + which * kBy;
      if (valid(pixel)) note(pixel, value, transform);
    }
  }

  __device__ __forceinline__ void store() const {
    unrolled<kPixels>([&](auto i) {
      if (!valid(i)) return;
      const size_t at = place_of(i);
      PixelStatistics p = load_pixel(statistics_, at);
      const unsigned rests = slots_[i * threads_].rests;
      p.sum += sums_[i].sum(additions_, rests);
      p.squares += sums_[i].squares(additions_, rests);
      if (static_cast<unsigned long long>(p.squares) >= kSquareLimit) p.severity = 1;
      store_pixel(p, statistics_, at);
    });
  }

 private:
  static constexpr int kPixels = kPoints * kLanes;

  __device__ __forceinline__ bool valid(int pixel) const {
    if constexpr (kLanes == 1) return pixel < places_.count;
    return pixel % kPoints < places_.count && pixel / kPoints < places_.lanes;
  }
  __device__ __forceinline__ size_t place_of(int pixel) const {
    if constexpr (kLanes == 1) return places_.first + static_cast<size_t>(pixel * places_.step);
    return places_.first + static_cast<size_t>(pixel % kPoints * places_.step +
                                               pixel / kPoints * places_.lane_step);
  }
  __device__ __forceinline__ float beaten_from(int pixel) const {
    if (!valid(pixel)) return INFINITY;
    const unsigned long long key = statistics_.best[place_of(pixel)];
    return key == 0 ? -INFINITY : value_of_key(key);
  }

  // A value that may be the best one, or is too large for the fast sums.
  __device__ __forceinline__ void note(int pixel, float2 value, const Transform& t) {
    const float square = fmaf(value.x, value.x, value.y * value.y);
    const size_t at = place_of(pixel);
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
  PixelPlaces places_;
  PixelSlot* slots_;
  int threads_;
  unsigned additions_ = 0;
  FixedSums sums_[kPixels];
};

// What the block transform's last stage leaves, back in order: into the statistics.
template <typename Storage, typename Fft, typename Sums>
__device__ __forceinline__ void add_correlations(Fft& fft, const Transform& transform, Sums& sums) {
  typename Storage::Point x[Fft::kFirst];
  sums.begin();
  if constexpr (Storage::kLanes == 1) {
    fft.inverse_first(x);
    sums.template add<0, 0, 1>(x, transform);
  } else {
    fft.take_first(x);
    finish_inverse<Fft::kFirst>(x, [&](auto k, auto& first, auto& second) {
      constexpr int kBy = Fft::kFirst / kGroup<Fft::kFirst>;
      sums.template add<0, k, kBy>(first, transform);
      sums.template add<1, k, kBy>(second, transform);
    });
  }
}

}  // namespace engine::cuda
