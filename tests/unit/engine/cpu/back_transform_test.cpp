// Projections by the passes of the fused path against those of the library, on every instruction
// set that this processor has.
#include "engine/cpu/fused/back_transform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/engine/cpu/instruction_sets.h"

namespace engine::cpu::fused {
namespace {

struct Planes {
  explicit Planes(int size)
      : n(size), count(static_cast<size_t>(n) * (static_cast<size_t>(n) / 2 + 1)) {
    std::mt19937 random(static_cast<unsigned>(n));
    std::normal_distribution<float> gaussian;
    for (auto* const plane : {&slice, &filter}) {
      for (size_t i = 0; i < count; ++i) plane->emplace_back(gaussian(random), gaussian(random));
    }
  }

  std::vector<float> projected_by(BackTransform& transform, int thread = 0) const {
    std::vector<float> out(static_cast<size_t>(n) * static_cast<size_t>(n), NAN);
    const double squares = transform.compute(slice.data(), filter.data(), out.data(), thread);
    double wanted = 0;
    for (const double pixel : out) wanted += pixel * pixel;
    EXPECT_NEAR(squares / wanted, 1, 1e-6);
    return out;
  }

  int n;
  size_t count;
  std::vector<Complex> slice, filter;
};

TEST(BackTransform, OfTheFusedPathIsThatOfTheLibrary) {
  // Sides of fewer points than lanes, of parts of blocks, of an odd number of blocks; 22 has no
  // factors, and is the library's own.
  for (const int n : {2, 4, 6, 10, 14, 16, 18, 20, 22, 24, 30, 40, 64, 72, 90, 128, 200}) {
    SCOPED_TRACE(n);
    const Planes planes(n);
    const std::vector<float> wanted = planes.projected_by(*make_plain_back_transform(n, 1));
    on_every_instruction_set([&] {
      const auto transform = make_back_transform(n, 2);
      const std::vector<float> ours = planes.projected_by(*transform, 1);
      double squares = 0, differences = 0;
      for (size_t i = 0; i < ours.size(); ++i) {
        squares += std::pow(wanted[i], 2);
        differences += std::pow(ours[i] - wanted[i], 2);
      }
      EXPECT_LT(std::sqrt(differences / squares), 1e-6);
      EXPECT_EQ(planes.projected_by(*transform, 0), ours) << "on another thread";
    });
  }
}

// projected_by() expects the sum of the squares.
TEST(BackTransform, AddsUpSquaresThatFloatsCannotHold) {
  for (const int exponent : {-90, 80}) {
    SCOPED_TRACE(exponent);
    Planes planes(24);
    for (Complex& value : planes.slice) value *= std::ldexp(1.0f, exponent);
    on_every_instruction_set([&] { planes.projected_by(*make_back_transform(planes.n, 1)); });
  }
}

}  // namespace
}  // namespace engine::cpu::fused
