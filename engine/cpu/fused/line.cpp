#include "engine/cpu/fused/line.h"

#include <cmath>
#include <numbers>

#include "engine/cpu/fused/lengths.h"

namespace engine::cpu::fused {
namespace {

AlignedArray<float> roots_of(int radix, size_t step) {
  if (step == 1) return {};
  AlignedArray<float> roots(2 * step * static_cast<size_t>(radix - 1));
  size_t at = 0;
  for (size_t j = 0; j < step; ++j) {
    for (int k = 1; k < radix; ++k) {
      const double turns = static_cast<double>(j) * k / (static_cast<double>(step) * radix);
      const double angle = -2 * std::numbers::pi * turns;
      roots[at++] = static_cast<float>(std::cos(angle));
      roots[at++] = static_cast<float>(std::sin(angle));
    }
  }
  return roots;
}

// Position p = p0 x step0 + p1 x step1 + ... has the frequency p0 + radix0 (p1 + radix1 (...)).
int frequency_at(size_t position, const std::vector<Pass>& passes) {
  size_t frequency = 0;
  size_t weight = 1;
  for (const Pass& pass : passes) {
    frequency += weight * (position / pass.step);
    position %= pass.step;
    weight *= static_cast<size_t>(pass.radix);
  }
  return static_cast<int>(frequency);
}

}  // namespace

Line::Line(int points) : length(static_cast<size_t>(points)) {
  size_t step = length;
  for (const int radix : factors_of(points)) {
    step /= static_cast<size_t>(radix);
    passes.push_back({radix, step, roots_of(radix, step)});
  }
  parts = static_cast<size_t>(passes.front().radix);
  part = passes.front().step;
  for (size_t p = 0; p < length; ++p) frequencies.push_back(frequency_at(p, passes));
}

}  // namespace engine::cpu::fused
