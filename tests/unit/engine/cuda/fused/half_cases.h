// Small searches by the fused path in half precision, against the CPU backend.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "engine/numerics/fft.h"
#include "tests/unit/engine/cuda/fused/fused_searches.h"

namespace tests {

template <typename Maker>
class CudaFusedHalves : public CudaFused<Maker> {};
TYPED_TEST_SUITE_P(CudaFusedHalves);

TYPED_TEST_P(CudaFusedHalves, CostsMore) {
  using Half = cuda::HalfArithmetic;
  using F = CudaFused<TypeParam>;
  F::template expect_maps_of_the_cpu<Fused<Half, 64>>(
      {.name = "one tile", .height = 50, .width = 60, .n = 16, .planes = 2}, 5e-3, 4);
  F::template expect_maps_of_the_cpu<Fused<Half, 64>>(
      {.name = "many tiles", .height = 117, .width = 186, .n = 16}, 5e-3, 3);
  F::template expect_maps_of_the_cpu<Fused<Half, 64, 96>>({.name = "single orientations",
                                                           .height = 81,
                                                           .width = 70,
                                                           .n = 30,
                                                           .planes = 3,
                                                           .paired = false},
                                                          5e-3, 3);
  F::template expect_maps_of_the_cpu<Fused<Half, 64, 96>>(
      {.name = "two lengths", .height = 90, .width = 120, .n = 20, .planes = 3}, 5e-3, 3);
  F::template expect_maps_of_the_cpu<Fused<Half, 64>>(
      {.name = "a template that nearly fills it", .height = 66, .width = 65, .n = 58}, 5e-3, 3);
  F::template expect_maps_of_the_cpu<Fused<Half, 64>>({.name = "one correlation in a transform",
                                                       .height = 60,
                                                       .width = 110,
                                                       .n = 30,
                                                       .paired = false,
                                                       .magnified = true,
                                                       .complex_filters = true},
                                                      5e-3, 3);
  F::template expect_maps_of_the_cpu<Fused<Half, 64, 288>>(
      {.name = "a radix of nine", .height = 240, .width = 60, .n = 40}, 5e-3, 3);
}

// Noise with particles, each in the orientation of the unit that is searched.
TYPED_TEST_P(CudaFusedHalves, LeavesParticlesWhereAndAsStrongAsTheyAre) {
  constexpr int kN = 16;
  engine::Search search =
      search_of({.name = "", .height = 120, .width = 150, .n = kN, .paired = false});
  engine::Problem& problem = search.problem;
  const auto only_unit_on_cpu = [&] {
    const auto cpu = engine::cpu::make_cpu_backend(
        problem, engine::cpu::plan_memory(shape_of(problem), {.threads = 1}));
    return this->maps(*cpu, search, 1);
  };
  const auto set_image = [&](const engine::Image& image) {
    const std::vector<std::complex<double>> spectrum = engine::forward_2d(image);
    std::transform(spectrum.begin(), spectrum.end(), problem.image_spectrum.begin(),
                   [](std::complex<double> value) { return std::complex<float>(value); });
  };
  // The correlations with a point are the projection, mirrored.
  engine::Image image(problem.height, problem.width);
  image.at(kN, kN) = 1;
  set_image(image);
  const engine::Accumulators of_point = only_unit_on_cpu();
  const std::vector<float> noise = random_floats(image.pixels.size(), 5);
  const auto root = static_cast<float>(std::sqrt(noise.size()));
  for (size_t i = 0; i < noise.size(); ++i) image.pixels[i] = noise[i] / root;
  const auto plant = [&](int top, int left, float z) {
    for (int y = 0; y < kN; ++y) {
      for (int x = 0; x < kN; ++x) {
        const auto at = static_cast<size_t>((kN - y) * of_point.width + kN - x);
        image.at(top + y, left + x) += z * engine::best_value(of_point.best[at]) / (root * root);
      }
    }
  };
  constexpr int kStrengths[] = {8, 12, 16, 20, 25, 30};
  for (int k = 0; k < 6; ++k)
    plant(5 + 20 * (k / 2), 20 + 70 * (k % 2), static_cast<float>(kStrengths[k]));
  set_image(image);
  const engine::Accumulators expected = only_unit_on_cpu();
  const engine::Accumulators found =
      this->maps(*this->template backend<Fused<cuda::HalfArithmetic, 64>>(search, 4), search, 1);
  for (int k = 0; k < 6; ++k) {
    // The largest value near the particle.
    const auto peak = [&](const engine::Accumulators& maps) {
      size_t best = 0;
      for (int y = -3; y <= 3; ++y) {
        for (int x = -3; x <= 3; ++x) {
          const auto at =
              static_cast<size_t>((5 + 20 * (k / 2) + y) * maps.width + 20 + 70 * (k % 2) + x);
          if (engine::best_value(maps.best[at]) > engine::best_value(maps.best[best])) best = at;
        }
      }
      return best;
    };
    const size_t at = peak(expected);
    EXPECT_NEAR(engine::best_value(expected.best[at]), kStrengths[k], 4) << "not what was planted";
    EXPECT_EQ(peak(found), at) << kStrengths[k];
    EXPECT_NEAR(engine::best_value(found.best[at]), engine::best_value(expected.best[at]), 0.02)
        << kStrengths[k];
  }
}

// Whatever a micrograph shows, its norm is that of noise: one pixel or one wave may hold it all.
TYPED_TEST_P(CudaFusedHalves, OverflowsForNoMicrograph) {
  engine::Search search = search_of({.name = "", .height = 60, .width = 64, .n = 16});
  auto& spectrum = search.problem.image_spectrum;
  const auto expect_agreement = [&](const char* name) {
    const auto cpu = engine::cpu::make_cpu_backend(
        search.problem, engine::cpu::plan_memory(shape_of(search.problem), {.threads = 1}));
    const engine::Accumulators expected = this->maps(*cpu, search, 2);
    const auto backend = this->template backend<Fused<cuda::HalfArithmetic, 64>>(search, 4);
    const engine::Accumulators found = this->maps(*backend, search, 2);
    double largest = 0;
    double worst = 0;
    for (size_t i = 0; i < expected.best.size(); ++i) {
      const double value = engine::best_value(expected.best[i]);
      largest = std::max(largest, value);
      worst = std::max(worst, std::abs(engine::best_value(found.best[i]) - value));
    }
    EXPECT_GT(largest, 2) << name << ": nothing to compare";
    EXPECT_LT(worst, 5e-3 * largest) << name;
  };
  const auto pixels = static_cast<double>(search.problem.height) * search.problem.width;
  for (int row = 0; row < 60; ++row) {
    for (int column = 0; column <= 32; ++column) {
      const double angle = 2 * 3.14159265358979 * (row * 30 / 60.0 + column * 31 / 64.0);
      spectrum[static_cast<size_t>(row) * 33 + static_cast<size_t>(column)] =
          std::complex<float>(std::polar(1.0, -angle));
    }
  }
  expect_agreement("one pixel");
  std::fill(spectrum.begin(), spectrum.end(), 0.0f);
  spectrum[9 * 33 + 8] = static_cast<float>(std::sqrt(pixels / 2));
  expect_agreement("one wave");
}

// Roots and constants are rounded: all of a length the same way, so that a peak of 30 would suffer.
TYPED_TEST_P(CudaFusedHalves, MakesNothingLarger) {
  using Half = cuda::HalfArithmetic;
  this->template expect_the_gain_of_one<Fused<Half, 64>, FusedInTwo<Half, 64>, Fused<Half, 288>>(
      {.name = "", .height = 270, .width = 280, .n = 32, .paired = false});
}

TYPED_TEST_P(CudaFusedHalves, EndsWhenAValueIsInfinite) {
  engine::Search search = search_of({.name = "", .height = 60, .width = 60, .n = 16});
  for (std::complex<float>& value : search.problem.image_spectrum) value *= 1e5f;
  const auto backend = this->template backend<Fused<cuda::HalfArithmetic, 64>>(search, 4);
  try {
    backend->correlate(search.space.units);
    backend->accumulators();
    FAIL() << "an infinity went unnoticed";
  } catch (const engine::InputError& e) {
    EXPECT_NE(std::string(e.what()).find("leave their range at map pixel"), std::string::npos)
        << e.what();
  }
}

REGISTER_TYPED_TEST_SUITE_P(CudaFusedHalves, CostsMore, LeavesParticlesWhereAndAsStrongAsTheyAre,
                            OverflowsForNoMicrograph, MakesNothingLarger, EndsWhenAValueIsInfinite);

}  // namespace tests
