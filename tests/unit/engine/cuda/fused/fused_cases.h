// Small searches by the fused path, against the CPU backend: several tiles, images that are
// not square, every way in which projections share transforms. Longer than 400 lines, since the
// same cases run on a device and on the CPU.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "engine/cuda/fused/correlator.h"
#include "engine/numerics/fft.h"
#include "tests/unit/engine/cuda/search_cases.h"

namespace tests {

template <cuda::ColumnKernel kKernel, typename Storage, int... kLengths>
struct FusedBy {
  static constexpr cuda::ColumnKernel kColumns = kKernel;
  template <typename Device>
  using Correlator = cuda::FusedCorrelator<Device, Storage, cuda::LengthList<kLengths...>>;

  static std::optional<cuda::FusedPlan> plan(const engine::ProblemShape& shape) {
    return cuda::plan_fused(shape, cuda::LengthList<kLengths...>::kLengths, Storage::kNumberBytes,
                            cuda::kMostTransforms);
  }
};

template <typename Storage, int... kLengths>
using Fused = FusedBy<cuda::ColumnKernel::kInThree, Storage, kLengths...>;
template <typename Storage, int... kLengths>
using FusedInTwo = FusedBy<cuda::ColumnKernel::kInTwo, Storage, kLengths...>;

constexpr int kShort = 64;  // the length along one axis, so that a search stays small

// One tile of kRows x kWidth, one of them kShort.
template <typename Storage, int kRows, int kWidth,
          cuda::ColumnKernel kKernel = cuda::ColumnKernel::kInThree>
struct OneTile : FusedBy<kKernel, Storage, kShort, kRows + kWidth - kShort> {
  static cuda::FusedPlan plan(const engine::ProblemShape& shape) {
    const auto axis = [&](int extent, int length) {
      return cuda::tile_axis(extent, shape.template_size, std::array{length}).value();
    };
    return {.tiling = {.rows = axis(shape.height, kRows), .columns = axis(shape.width, kWidth)},
            .transforms = 3};
  }
};

template <typename Maker>
class CudaFused : public OnDevice<Maker> {
 protected:
  template <typename Path>
  static std::unique_ptr<engine::Backend> backend(
      const engine::Search& search, int batch,
      cuda::ColumnGrid grid = cuda::ColumnGrid::kTransformsFirst,
      cuda::ColumnKernel columns = Path::kColumns, bool rows_ahead = false) {
    using FusedBackend = cuda::DeviceBackend<typename Maker::Device, Path::template Correlator>;
    cuda::MemoryPlan plan = cuda::plan_memory(shape_of(search.problem), batch);
    plan.projections = 5;
    plan.fused = Path::plan(shape_of(search.problem));
    plan.fused->grid = grid;
    plan.fused->columns = columns;
    plan.fused->rows_ahead = rows_ahead;
    return std::make_unique<FusedBackend>(Maker::make(), search.problem, plan);
  }
  // How much larger `found` is than `expected`, as a whole.
  static double gain(const engine::Accumulators& found, const engine::Accumulators& expected) {
    double product = 0;
    double square = 0;
    for (size_t i = 0; i < expected.best.size(); ++i) {
      const double value = engine::best_value(expected.best[i]);
      product += value * engine::best_value(found.best[i]);
      square += value * value;
    }
    return product / square;
  }
  // What the first units of the search leave.
  static engine::Accumulators maps(engine::Backend& backend, const engine::Search& search,
                                   size_t units) {
    backend.correlate(std::span<const engine::Unit>(search.space.units).first(units));
    return backend.accumulators();
  }

  template <typename Path>
  static void expect_maps_of_the_cpu(const SearchCase& c, double bound, size_t units = 12) {
    const engine::Search search = search_of(c);
    const auto cpu = engine::cpu::make_cpu_backend(
        search.problem,
        engine::cpu::plan_memory(shape_of(search.problem), {.threads = 1, .batch = 4}));
    const engine::Accumulators expected = maps(*cpu, search, units);
    const engine::Accumulators found = maps(*backend<Path>(search, 4), search, units);
    const int64_t count =
        static_cast<int64_t>(units) * search.problem.planes() * (c.paired ? 2 : 1);
    const Deviations d = deviations(found, expected, count);
    EXPECT_LT(d.mip, bound) << c.name;
    EXPECT_LT(d.mean, bound) << c.name;
    EXPECT_LT(d.sd, bound) << c.name;
    EXPECT_LT(d.other_index, 30 * bound) << c.name;
    EXPECT_GT(engine::best_z(expected, count), 0.5) << c.name << ": nothing to compare";
  }
  // Of each of the paths.
  template <typename... Paths>
  static void expect_the_gain_of_one(const SearchCase& c) {
    const engine::Search search = search_of(c);
    const auto cpu = engine::cpu::make_cpu_backend(
        search.problem, engine::cpu::plan_memory(shape_of(search.problem), {.threads = 1}));
    const engine::Accumulators expected = maps(*cpu, search, 1);
    const auto expect = [&](engine::Backend& path) {
      EXPECT_NEAR(gain(maps(path, search, 1), expected), 1, 1e-4) << c.name;
    };
    (expect(*backend<Paths>(search, 1)), ...);
  }
};

TYPED_TEST_SUITE_P(CudaFused);

TYPED_TEST_P(CudaFused, GivesTheMapsOfTheCpu) {
  using Single = cuda::SingleStorage;
  using F = CudaFused<TypeParam>;
  F::template expect_maps_of_the_cpu<Fused<Single, 64>>(
      {.name = "one tile", .height = 50, .width = 60, .n = 16, .planes = 2}, 3e-6);
  F::template expect_maps_of_the_cpu<Fused<Single, 64>>(
      {.name = "many tiles", .height = 117, .width = 186, .n = 16}, 3e-6);
  F::template expect_maps_of_the_cpu<Fused<Single, 64, 96>>(
      {.name = "two lengths", .height = 90, .width = 120, .n = 20, .planes = 3}, 3e-6);
  F::template expect_maps_of_the_cpu<Fused<Single, 64>>(
      {.name = "a template that nearly fills it", .height = 66, .width = 65, .n = 58}, 3e-6);
  F::template expect_maps_of_the_cpu<Fused<Single, 64, 96>>({.name = "single orientations",
                                                             .height = 81,
                                                             .width = 70,
                                                             .n = 16,
                                                             .planes = 3,
                                                             .paired = false},
                                                            3e-6);
  F::template expect_maps_of_the_cpu<Fused<Single, 96>>({.name = "one correlation in a transform",
                                                         .height = 100,
                                                         .width = 90,
                                                         .n = 34,
                                                         .paired = false,
                                                         .magnified = true,
                                                         .complex_filters = true},
                                                        3e-6);
  F::template expect_maps_of_the_cpu<Fused<Single, 288>>(
      {.name = "a radix of nine", .height = 330, .width = 290, .n = 40}, 3e-6);
}

TYPED_TEST_P(CudaFused, GivesTheMapsOfTheCpuWithColumnsInTwoStages) {
  using Single = FusedInTwo<cuda::SingleStorage, 64>;
  using Half = FusedInTwo<cuda::HalfArithmetic, 64>;
  using F = CudaFused<TypeParam>;
  const auto expect = [](const SearchCase& c) {
    F::template expect_maps_of_the_cpu<Single>(c, 3e-6);
    F::template expect_maps_of_the_cpu<Half>(c, 5e-3, 3);
  };
  expect({.name = "a quarter of the length", .height = 117, .width = 90, .n = 16, .planes = 2});
  expect({.name = "half of it", .height = 80, .width = 70, .n = 30, .paired = false});
  expect({.name = "nearly all of it", .height = 66, .width = 65, .n = 58});
  F::template expect_maps_of_the_cpu<FusedInTwo<cuda::SingleStorage, 64, 96>>(
      {.name = "rows of another length", .height = 50, .width = 90, .n = 20}, 3e-6);
}

TYPED_TEST_P(CudaFused, GivesTheMapsOfTheCpuForSizesAtRandom) {
  const auto cases =
      TypeParam::large_cases() ? cases_at_random(33, 12, 700, 60) : cases_at_random(34, 3, 150, 30);
  for (const SearchCase& c : cases) {
    SCOPED_TRACE(text_of(c));
    this->template expect_maps_of_the_cpu<Fused<cuda::SingleStorage, 64, 96>>(c, 3e-6);
    this->template expect_maps_of_the_cpu<Fused<cuda::HalfArithmetic, 64>>(c, 5e-3, 3);
  }
}

TYPED_TEST_P(CudaFused, HalfArithmeticCostsMore) {
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
TYPED_TEST_P(CudaFused, HalfArithmeticLeavesParticlesWhereAndAsStrongAsTheyAre) {
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
TYPED_TEST_P(CudaFused, HalfArithmeticOverflowsForNoMicrograph) {
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
TYPED_TEST_P(CudaFused, HalfArithmeticMakesNothingLarger) {
  using Half = cuda::HalfArithmetic;
  this->template expect_the_gain_of_one<Fused<Half, 64>, FusedInTwo<Half, 64>, Fused<Half, 288>>(
      {.name = "", .height = 270, .width = 280, .n = 32, .paired = false});
}

TYPED_TEST_P(CudaFused, HalfArithmeticEndsWhenAValueIsInfinite) {
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

TYPED_TEST_P(CudaFused, GivesTheSameBitsForEveryBatchAndEveryOrder) {
  using Single = Fused<cuda::SingleStorage, 64>;
  using Half = Fused<cuda::HalfArithmetic, 64>;
  constexpr size_t kUnits = 20;
  for (const bool paired : {true, false}) {
    const engine::Search search = search_of({.name = "",
                                             .height = 70,
                                             .width = 60,
                                             .n = 16,
                                             .planes = paired ? 1 : 3,
                                             .paired = paired});
    const auto bits = [&]<typename Path>(Path, int batch) {
      return this->maps(*this->template backend<Path>(search, batch), search, kUnits);
    };
    const engine::Accumulators expected = bits(Single{}, 1);
    EXPECT_TRUE(same_bits(bits(Single{}, 7), expected));
    EXPECT_TRUE(same_bits(bits(Single{}, 64), expected));
    EXPECT_TRUE(same_bits(bits(Half{}, 64), bits(Half{}, 3)));
    const auto chunks_first =
        this->template backend<Single>(search, 7, cuda::ColumnGrid::kChunksFirst);
    EXPECT_TRUE(same_bits(this->maps(*chunks_first, search, kUnits), expected));
    const auto bits_ahead = [&]<typename Path>(Path, int batch) {
      const auto ahead = this->template backend<Path>(
          search, batch, cuda::ColumnGrid::kTransformsFirst, Path::kColumns, true);
      return this->maps(*ahead, search, kUnits);
    };
    EXPECT_TRUE(same_bits(bits_ahead(Single{}, 7), expected));
    EXPECT_TRUE(same_bits(bits_ahead(Half{}, 64), bits(Half{}, 3)));
    using InTwo = FusedInTwo<cuda::SingleStorage, 64>;
    EXPECT_TRUE(same_bits(bits(InTwo{}, 2), bits(InTwo{}, 64)));
    std::vector<engine::Unit> units(search.space.units.begin(),
                                    search.space.units.begin() + kUnits);
    std::shuffle(units.begin(), units.end(), std::mt19937(5));
    const auto backend = this->template backend<Single>(search, 4);
    const std::span<const engine::Unit> all(units);
    backend->correlate(all.subspan(0, 5));
    backend->correlate(all.subspan(5));
    EXPECT_TRUE(same_bits(backend->accumulators(), expected)) << "in another order";
  }
}

TYPED_TEST_P(CudaFused, CountsWhatIsTooLargeForTheFastSums) {
  engine::Search search = search_of({.name = "", .height = 70, .width = 76, .n = 16, .planes = 2});
  for (std::complex<float>& value : search.problem.image_spectrum) value *= 60.0f;
  const engine::Accumulators expected = run_on_cpu(search);
  const auto backend = this->template backend<Fused<cuda::SingleStorage, 64>>(search, 4);
  const engine::Accumulators found = run_on(*backend, search);
  const Deviations d = deviations(found, expected, search.space.correlations());
  const float largest =
      engine::best_value(*std::max_element(expected.best.begin(), expected.best.end()));
  EXPECT_GT(largest * largest, cuda::kMagicLimit);
  EXPECT_LT(d.mip, 6e-4);
  EXPECT_LT(d.mean, 6e-4);
  EXPECT_LT(d.sd, 6e-4);
}

TYPED_TEST_P(CudaFused, EndsWithThePixelNamedWhenASumLeavesItsRange) {
  const engine::Search search = search_of({.name = "", .height = 70, .width = 76, .n = 16});
  const auto backend = this->template backend<Fused<cuda::SingleStorage, 64>>(search, 4);
  engine::Accumulators full = backend->accumulators();
  full.squares[51 * static_cast<size_t>(full.width) + 7] =
      static_cast<int64_t>(engine::kSquareLimit) - 1;
  backend->restore(full);
  backend->correlate(search.space.units);
  try {
    backend->accumulators();
    FAIL() << "an overflow went unnoticed";
  } catch (const engine::InputError& e) {
    EXPECT_NE(std::string(e.what()).find("row 51, column 7"), std::string::npos) << e.what();
  }
}

TYPED_TEST_P(CudaFused, EndsWhenAValueIsNoNumber) {
  engine::Search search = search_of({.name = "", .height = 60, .width = 60, .n = 16});
  search.problem.image_spectrum[5] = {NAN, 0};
  const auto backend = this->template backend<Fused<cuda::SingleStorage, 64>>(search, 4);
  backend->correlate(search.space.units);
  EXPECT_THROW(backend->accumulators(), engine::InputError);
}

REGISTER_TYPED_TEST_SUITE_P(
    CudaFused, GivesTheMapsOfTheCpu, GivesTheMapsOfTheCpuWithColumnsInTwoStages,
    GivesTheMapsOfTheCpuForSizesAtRandom, HalfArithmeticCostsMore,
    HalfArithmeticLeavesParticlesWhereAndAsStrongAsTheyAre, HalfArithmeticOverflowsForNoMicrograph,
    HalfArithmeticMakesNothingLarger, HalfArithmeticEndsWhenAValueIsInfinite,
    GivesTheSameBitsForEveryBatchAndEveryOrder, CountsWhatIsTooLargeForTheFastSums,
    EndsWithThePixelNamedWhenASumLeavesItsRange, EndsWhenAValueIsNoNumber);

}  // namespace tests
