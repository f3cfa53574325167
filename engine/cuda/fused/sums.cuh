// Sums of many correlations in registers, exact in the fixed point of
// engine/numerics/statistics.h, with additions of single precision and of 32 bits only.
//
// Adding a magic number M = 1.5 x 2^k makes a float's last bit worth 2^(k-23): what is added is
// rounded to that, and the bits of the result count it. A value is split so into a high part and a
// rest, each exact; both parts are summed as integers, modulo 2^32, the magic numbers with them.
#pragma once

#include "engine/cuda/fused_tuning.h"
#include "engine/numerics/statistics.h"

namespace engine::cuda {

// Of one pixel. Exact for up to kMostTransforms correlations, or pairs, below kFastSquareLimit.
struct FixedSums {
  // |u + v| < 91, in units of 2^-15, the rest in 2^-24; squares in units of 2^-10 and 2^-20.
  static constexpr float kSumMagic = 384.0f;
  static constexpr float kSumRestMagic = 0.75f;
  static constexpr float kSquareMagic = 12288.0f;
  static constexpr float kSquareRestMagic = 12.0f;
  static constexpr int kSumHighBits = 15;
  static constexpr int kSquareHighBits = 10;

  unsigned sum_high = 0;
  unsigned square_high = 0;

  // Sum and sum of squares of one or two correlations. `rests` are summed elsewhere, to save
  // registers: the sum's in the upper half, the squares' in the lower.
  __device__ __forceinline__ void add(float sum, float square, unsigned& rests) {
    const float sum_at = sum + kSumMagic;
    const float sum_rest = sum - (sum_at - kSumMagic) + kSumRestMagic;
    const float square_at = square + kSquareMagic;
    const float square_rest = square - (square_at - kSquareMagic) + kSquareRestMagic;
    sum_high += __float_as_uint(sum_at);
    square_high += __float_as_uint(square_at);
    rests += (__float_as_uint(sum_rest) << 16) + __float_as_uint(square_rest);
  }

  // In units of 2^-kSumBits and 2^-kSquareBits, after `additions` of them.
  __device__ long long sum(unsigned additions, unsigned rests) const {
    const auto high = static_cast<int>(sum_high - additions * __float_as_uint(kSumMagic));
    const int both = rests_without_magic(additions, rests);
    const int rest = (both - static_cast<int16_t>(both)) / 65536;
    return static_cast<long long>(high) * (1 << (kSumBits - kSumHighBits)) + rest;
  }
  __device__ long long squares(unsigned additions, unsigned rests) const {
    const auto high = static_cast<int>(square_high - additions * __float_as_uint(kSquareMagic));
    return static_cast<long long>(high) * (1 << (kSquareBits - kSquareHighBits)) +
           static_cast<int16_t>(rests_without_magic(additions, rests));
  }

 private:
  __device__ static int rests_without_magic(unsigned additions, unsigned rests) {
    const unsigned magic =
        (__float_as_uint(kSumRestMagic) << 16) + __float_as_uint(kSquareRestMagic);
    return static_cast<int>(rests - additions * magic);
  }
};

// A square from which on a correlation takes the slow way.
constexpr float kFastSquareLimit = 4096.0f;
static_assert(kMostTransforms <= 32, "rests of squares, at most 2^9 each, stay in their half");

}  // namespace engine::cuda
