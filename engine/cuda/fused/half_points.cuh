// Complex numbers of two lines at once, in fp16: an instruction works on both, so that transforming
// one line of these points transforms two lines. The roots are the same for both. Include after
// half_words.cuh.
#pragma once

#include <cstdint>

#include "engine/cuda/fused/fft_radix.cuh"

namespace engine::cuda {

// A number of magnitude up to 65504, rounded to the nearest half, ties to even.
struct RoundedToHalf {
  uint32_t bits = 0;
  double value = 0;

  __host__ __device__ constexpr explicit RoundedToHalf(double number) {
    const double size = number < 0 ? -number : number;
    uint32_t exponent = 0;  // doublings of `unit`; 0 below 2^-13, subnormal or not
    double unit = 1.0 / 16777216;
    for (; size >= 2048 * unit; ++exponent) unit *= 2;
    auto units = static_cast<uint32_t>(size / unit);
    const double rest = size / unit - units;
    if (rest > 0.5 || (rest == 0.5 && units % 2 == 1)) ++units;
    // The leading bit, which is not stored, counts as a step of the exponent.
    bits = (number < 0 ? 0x8000u : 0u) | ((exponent << 10) + units);
    value = number < 0 ? -(units * unit) : units * unit;
  }
};

// One number of each of two lines; the first line's is in the lower 16 bits.
struct HalfPair {
  uint32_t bits;
};
struct alignas(8) HalfPoint {
  HalfPair x, y;
};

__device__ __forceinline__ HalfPair pair_of(__half2 halves) { return {word_of_halves(halves)}; }
__device__ __forceinline__ __half2 halves_of(HalfPair pair) { return halves_of_word(pair.bits); }

__device__ __forceinline__ HalfPair plus(HalfPair a, HalfPair b) {
  return pair_of(__hadd2_rn(halves_of(a), halves_of(b)));
}
__device__ __forceinline__ HalfPair minus(HalfPair a, HalfPair b) {
  return pair_of(__hsub2_rn(halves_of(a), halves_of(b)));
}
__device__ __forceinline__ HalfPair times(HalfPair a, HalfPair b) {
  return pair_of(__hmul2_rn(halves_of(a), halves_of(b)));
}
__device__ __forceinline__ HalfPair negative(HalfPair a) { return pair_of(__hneg2(halves_of(a))); }
__device__ __forceinline__ HalfPair fused(HalfPair a, HalfPair b, HalfPair c) {
  return pair_of(__hfma2(halves_of(a), halves_of(b), halves_of(c)));
}

template <>
struct Constant<HalfPair> {
  __host__ __device__ static constexpr HalfPair of(double value) {
    return {RoundedToHalf(value).bits * 0x10001u};
  }
};

// Cosine (lower 16 bits) and sine, which are the same for both lines.
struct HalfRoot {
  uint32_t bits;
};
inline void store_root(double cosine, double sine, HalfRoot* root) {
  *root = {RoundedToHalf(sine).bits << 16 | RoundedToHalf(cosine).bits};
}
__device__ __forceinline__ HalfPoint load_root(const HalfRoot* root) {
  const __half2 both = halves_of_word(__ldg(&root->bits));
  return {pair_of(__low2half2(both)), pair_of(__high2half2(both))};
}

__device__ __forceinline__ HalfPoint narrowed(float2 first, float2 second) {
  return {pair_of(__floats2half2_rn(first.x, second.x)),
          pair_of(__floats2half2_rn(first.y, second.y))};
}
__device__ __forceinline__ void widen(HalfPoint point, float2& first, float2& second) {
  const float2 x = __half22float2(halves_of(point.x));
  const float2 y = __half22float2(halves_of(point.y));
  first = make_float2(x.x, y.x);
  second = make_float2(x.y, y.y);
}

// For two points p and q that both hold lines a and b: firsts_of() returns their numbers of line a,
// and seconds_of() those of line b.
__device__ __forceinline__ HalfPoint firsts_of(HalfPoint p, HalfPoint q) {
  return {pair_of(__lows2half2(halves_of(p.x), halves_of(q.x))),
          pair_of(__lows2half2(halves_of(p.y), halves_of(q.y)))};
}
__device__ __forceinline__ HalfPoint seconds_of(HalfPoint p, HalfPoint q) {
  return {pair_of(__highs2half2(halves_of(p.x), halves_of(q.x))),
          pair_of(__highs2half2(halves_of(p.y), halves_of(q.y)))};
}

// Does the inverse transform of kPoints points with its last level in single precision, in groups
// that need few registers. For every k < kPoints / kGroup it calls use(Index<k>, first, second)
// with the points k + i kPoints / kGroup of either line.
template <int kPoints>
constexpr int kGroup = first_factor(kPoints);

template <int kPoints, typename Use>
__device__ __forceinline__ void finish_inverse(HalfPoint* x, Use&& use) {
  constexpr int kFirst = kGroup<kPoints>;
  constexpr int kSecond = kPoints / kFirst;
  HalfPoint part[kFirst][kSecond];
  unrolled<kFirst>([&](auto a) {
    unrolled<kSecond>([&](auto b) { part[a][b] = x[a + kFirst * b]; });
    if constexpr (kSecond > 1) transform_points<kSecond, true>(part[a]);
  });
  unrolled<kSecond>([&](auto k) {
    float2 first[kFirst];
    float2 second[kFirst];
    unrolled<kFirst>([&](auto a) {
      constexpr int kTurn = a * k % kPoints;
      widen(part[a][k], first[a], second[a]);
      first[a] = root_product<true, kTurn, kPoints>(first[a]);
      second[a] = root_product<true, kTurn, kPoints>(second[a]);
    });
    transform_points<kFirst, true>(first);
    transform_points<kFirst, true>(second);
    use(k, first, second);
  });
}

}  // namespace engine::cuda
