// What engine/cuda/half_words.cuh has, for kernels that run on the CPU: IEEE halves by hand, which
// GCC 12 has no type for.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/fakes/simt_words.h"

namespace tests::simt {

// Rounded to the nearest, ties to even; from 65520 on infinite.
inline uint16_t half_bits(float value) {
  const auto sign = static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16 & 0x8000u);
  const float size = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7e00u;
  if (size >= 65520.0f) return sign | 0x7c00u;
  // Below 2^-14 a half's last bit stays at 2^-24.
  int exponent = -14;
  if (size > 0) exponent = std::max(exponent, std::ilogb(size));
  const auto units = static_cast<uint32_t>(std::rint(std::ldexp(size, 10 - exponent)));
  // Where rounding carries into the exponent, the sum is right too.
  return static_cast<uint16_t>(sign + (static_cast<uint32_t>(exponent + 14) << 10) + units);
}

inline float half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const auto units = static_cast<float>(bits & 1023);
  float size = 0;
  if (exponent == 31) {
    size = units > 0 ? std::numeric_limits<float>::quiet_NaN()
                     : std::numeric_limits<float>::infinity();
  } else if (exponent == 0) {
    size = std::ldexp(units, -24);
  } else {
    size = std::ldexp(units + 1024.0f, exponent - 25);
  }
  return (bits & 0x8000u) != 0 ? -size : size;
}

}  // namespace tests::simt

inline uint32_t pack_halves(float2 value) {
  return static_cast<uint32_t>(tests::simt::half_bits(value.y)) << 16 |
         tests::simt::half_bits(value.x);
}
inline float2 unpack_halves(uint32_t word) {
  return {tests::simt::half_value(static_cast<uint16_t>(word)),
          tests::simt::half_value(static_cast<uint16_t>(word >> 16))};
}
