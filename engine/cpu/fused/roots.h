// Roots of unity, computed at compile time.
#pragma once

#include <cstddef>
#include <numbers>

namespace engine::cpu::fused {

struct Root {
  float re;
  float im;
};

// Sine and cosine of an angle of at most a quarter turn, in radians, by their Taylor series.
constexpr double small_sine(double angle) {
  double term = angle, sum = angle;
  for (int k = 1; k < 12; ++k) {
    term *= -angle * angle / ((2 * k) * (2 * k + 1));
    sum += term;
  }
  return sum;
}
constexpr double small_cosine(double angle) {
  double term = 1, sum = 1;
  for (int k = 1; k < 12; ++k) {
    term *= -angle * angle / ((2 * k - 1) * (2 * k));
    sum += term;
  }
  return sum;
}

// Returns exp(-2 pi i numerator / of); the numerator must be below `of`.
constexpr Root root_of_unity(size_t numerator, size_t of) {
  if (8 * numerator > 4 * of) {
    const Root mirrored = root_of_unity(of - numerator, of);
    return {mirrored.re, -mirrored.im};
  }
  if (8 * numerator > 2 * of) {
    // A quarter of a turn less.
    const double angle =
        2 * std::numbers::pi * (static_cast<double>(numerator) / static_cast<double>(of) - 0.25);
    return {static_cast<float>(-small_sine(angle)), static_cast<float>(-small_cosine(angle))};
  }
  const double angle =
      2 * std::numbers::pi * static_cast<double>(numerator) / static_cast<double>(of);
  return {static_cast<float>(small_cosine(angle)), static_cast<float>(-small_sine(angle))};
}

}  // namespace engine::cpu::fused
