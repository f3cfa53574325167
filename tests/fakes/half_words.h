// What engine/cuda/fused/half_words.cuh has, for kernels that run on the CPU: CUDA's names for two
// halves, rounded as IEEE halves. Not every compiler has a type for them, and a kernel does
// millions of these: so they are computed in double and rounded by hand.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "tests/fakes/simt_words.h"

namespace tests::simt {

// Rounded to the nearest, ties to even; from 65520 on infinite.
inline uint16_t half_bits(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 48 & 0x8000u);
  const double size = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7e00u;
  if (size >= 65520.0) return sign | 0x7c00u;
  // Below 2^-14 a half's last bit stays at 2^-24; so does that of a double from 2^28 on.
  if (size < 0x1p-14) return sign | static_cast<uint16_t>(std::bit_cast<uint64_t>(size + 0x1p28));
  const uint64_t from = std::bit_cast<uint64_t>(size) - (uint64_t{1023 - 15} << 52);
  const uint64_t half_unit = (uint64_t{1} << 41) - 1 + (from >> 42 & 1);
  // Where rounding carries into the exponent, the sum is right too.
  return sign | static_cast<uint16_t>((from + half_unit) >> 42);
}

inline float half_value(uint16_t bits) {
  const uint32_t size = bits & 0x7fffu;
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16;
  // The exponent's offset by a product, which is right below 2^-14 too.
  const float value = size >= 0x7c00u ? std::bit_cast<float>(0x7f800000u | size << 13)
                                      : std::bit_cast<float>(size << 13) * 0x1p112f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign);
}

}  // namespace tests::simt

// NOLINTBEGIN(readability-identifier-naming): the names are CUDA's.
struct alignas(4) __half2 {
  uint16_t x, y;
};
// NOLINTEND(readability-identifier-naming)

inline __half2 halves_of_word(uint32_t word) { return std::bit_cast<__half2>(word); }
inline uint32_t word_of_halves(__half2 halves) { return std::bit_cast<uint32_t>(halves); }

inline __half2 __floats2half2_rn(float x, float y) {
  return {tests::simt::half_bits(x), tests::simt::half_bits(y)};
}
inline float2 __half22float2(__half2 a) {
  return {tests::simt::half_value(a.x), tests::simt::half_value(a.y)};
}
inline __half2 __low2half2(__half2 a) { return {a.x, a.x}; }
inline __half2 __high2half2(__half2 a) { return {a.y, a.y}; }
inline __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
inline __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
inline __half2 __hneg2(__half2 a) { return halves_of_word(word_of_halves(a) ^ 0x80008000u); }

namespace tests::simt {

// Sums and products of two halves are exact in double. What a x b + c loses there is too far below
// the last bit of a half to make a tie of what is none.
template <typename Operation, typename... Halves>
__half2 of_both(const Operation& operation, Halves... halves) {
  return {half_bits(operation(double{half_value(halves.x)}...)),
          half_bits(operation(double{half_value(halves.y)}...))};
}

}  // namespace tests::simt

inline __half2 __hadd2_rn(__half2 a, __half2 b) {
  return tests::simt::of_both([](double x, double y) { return x + y; }, a, b);
}
inline __half2 __hsub2_rn(__half2 a, __half2 b) {
  return tests::simt::of_both([](double x, double y) { return x - y; }, a, b);
}
inline __half2 __hmul2_rn(__half2 a, __half2 b) {
  return tests::simt::of_both([](double x, double y) { return x * y; }, a, b);
}
inline __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return tests::simt::of_both([](double x, double y, double z) { return x * y + z; }, a, b, c);
}
