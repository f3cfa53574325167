// The fused path against FFTW's, on every instruction set that this processor has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "engine/cpu/cpu_backend.h"
#include "engine/cpu/fused/backend.h"
#include "engine/cpu/fused/rate.h"
#include "engine/error.h"
#include "engine/numerics/fft.h"
#include "tests/unit/engine/cpu/instruction_sets.h"

namespace engine::cpu::fused {
namespace {

struct Size {
  int height, width, size;
};

OrientationList orientations() { return make_orientations({{.psi_step = 60, .theta_step = 60}}); }

// Noise of unit deviation in the correlations, times `gain`.
Problem noise_problem(const Size& s, int planes, float gain = 1) {
  std::mt19937 random(static_cast<unsigned>(s.height + 3 * s.width + 5 * s.size));
  std::normal_distribution<float> gaussian;
  Problem p;
  p.height = s.height;
  p.width = s.width;
  p.template_size = s.size;
  p.extreme_pixel = "a pixel is extreme";
  Image image(s.height, s.width);
  for (float& pixel : image.pixels) pixel = gaussian(random);
  const float scale = gain / std::sqrt(static_cast<float>(s.height) * static_cast<float>(s.width));
  for (const auto& value : forward_2d(image)) {
    p.image_spectrum.push_back(std::complex<float>(value) * scale);
  }
  p.image_spectrum[0] = 0;
  const auto n = static_cast<size_t>(s.size);
  for (size_t i = 0; i < n * n * (n / 2 + 1); ++i) {
    p.volume_spectrum.emplace_back(gaussian(random), gaussian(random));
  }
  for (int plane = 0; plane < planes; ++plane) {
    p.filters.emplace_back(n * (n / 2 + 1),
                           std::complex<float>(1.0f, 0.1f * static_cast<float>(plane)));
  }
  p.orientations = orientations().orientations;
  return p;
}

ProblemShape shape_of(const Problem& p) {
  return {p.height, p.width, p.template_size, p.planes(),
          static_cast<int64_t>(p.orientations.size())};
}

std::unique_ptr<Backend> fused_backend(const Problem& p, const CpuOptions& options = {1, 3}) {
  return make_backend(p, fused::plan_memory(shape_of(p), options));
}

Accumulators by_fused(const Problem& p, const std::vector<Unit>& units,
                      const CpuOptions& options = {1, 3}) {
  const auto backend = fused_backend(p, options);
  backend->correlate(units);
  return backend->accumulators();
}

Accumulators by_fftw(const Problem& p, const std::vector<Unit>& units) {
  const auto backend = make_cpu_backend(p, cpu::plan_memory(shape_of(p), {1, 3}));
  backend->correlate(units);
  return backend->accumulators();
}

bool same_bits(const Accumulators& a, const Accumulators& b) {
  return a.best == b.best && a.sum == b.sum && a.squares == b.squares;
}

// Of the largest values and of the sums, `correlations` of them.
void expect_close(const Accumulators& ours, const Accumulators& wanted, double correlations) {
  double squares = 0, sums = 0, sums_of_squares = 0;
  for (size_t i = 0; i < ours.best.size(); ++i) {
    squares += std::pow(best_value(ours.best[i]) - best_value(wanted.best[i]), 2);
    sums += std::abs(std::ldexp(static_cast<double>(ours.sum[i] - wanted.sum[i]), -kSumBits));
    sums_of_squares += std::abs(
        std::ldexp(static_cast<double>(ours.squares[i] - wanted.squares[i]), -kSquareBits));
  }
  const auto pixels = static_cast<double>(ours.best.size());
  EXPECT_LT(std::sqrt(squares / pixels), 1e-6);
  EXPECT_LT(sums / pixels, 2e-6 * correlations);
  EXPECT_LT(sums_of_squares / pixels, 2e-5 * correlations);
}

constexpr Size kSizes[] = {{64, 64, 16},   {72, 90, 16},    {48, 80, 20}, {70, 112, 18},
                           {130, 144, 46}, {62, 58, 10},    {20, 34, 4},  {256, 336, 64},
                           {18, 16, 16},   {162, 1024, 30}, {38, 22, 20}};

TEST(Fused, AgreesWithFftwOnImagesOfEverySize) {
  const std::vector<Unit> pairs = make_units(orientations(), true);
  for (const Size& size : kSizes) {
    SCOPED_TRACE(std::to_string(size.height) + " x " + std::to_string(size.width) + ", " +
                 std::to_string(size.size));
    const Problem one = noise_problem(size, 1);
    const Problem three = noise_problem(size, 3);
    const std::vector<Unit> single = {{pairs[3].first, -1}};
    const std::vector<Unit> some(pairs.begin(), pairs.begin() + 4);
    // Of one correlation the largest value is the correlation itself.
    const Accumulators wanted_single = by_fftw(one, single);
    const Accumulators wanted = by_fftw(three, some);
    // Planes that share transforms.
    const Accumulators wanted_planes = by_fftw(three, single);
    on_every_instruction_set([&] {
      expect_close(by_fused(one, single), wanted_single, 1);
      expect_close(by_fused(three, some), wanted, 24);
      expect_close(by_fused(three, single), wanted_planes, 3);
    });
  }
}

TEST(Fused, RoundsSumsAsTheStatisticsAreDefined) {
  // Small ones, and such as are summed in 64 bits.
  for (const float gain : {1.0f, 20.0f, 3000.0f}) {
    const Problem p = noise_problem({70, 96, 16}, 1, gain);
    const std::vector<Unit> single = {{2, -1}};
    on_every_instruction_set([&] {
      const Accumulators found = by_fused(p, single);
      for (size_t i = 0; i < found.best.size(); ++i) {
        const double value = best_value(found.best[i]);
        ASSERT_EQ(found.sum[i], static_cast<int64_t>(std::nearbyint(std::ldexp(value, kSumBits))));
        ASSERT_EQ(found.squares[i],
                  static_cast<int64_t>(std::nearbyint(std::ldexp(value * value, kSquareBits))));
      }
    });
  }
}

TEST(Fused, GivesTheSameBitsForEveryDivisionOfTheWork) {
  std::vector<Unit> units = make_units(orientations(), true);
  ASSERT_GT(units.size(), 11u);
  units.resize(11);
  for (const float gain : {1.0f, 8.0f}) {
    const Problem p = noise_problem({90, 130, 22}, 2, gain);
    on_every_instruction_set([&] {
      const Accumulators wanted = by_fused(p, units, {1, 1});
      for (const int threads : {1, 2, 3}) {
        for (const int batch : {2, 5, 64}) {
          EXPECT_TRUE(same_bits(by_fused(p, units, {threads, batch}), wanted))
              << threads << " threads, batch " << batch;
        }
      }
    });
  }
}

TEST(Fused, GoesOnWhereItWasAskedOrStoppedWithTheSameBits) {
  const std::vector<Unit> units = make_units(orientations(), true);
  const Problem p = noise_problem({90, 96, 22}, 1);
  const Accumulators wanted = by_fused(p, units);
  const auto first = fused_backend(p);
  first->correlate(std::span(units).first(5));
  const Accumulators half = first->accumulators();
  const auto second = fused_backend(p, {2, 4});
  second->correlate(std::span(units).last(3));
  second->restore(half);
  for (Backend* backend : {first.get(), second.get()}) {
    backend->correlate(std::span(units).subspan(5));
    EXPECT_TRUE(same_bits(backend->accumulators(), wanted));
    EXPECT_EQ(backend->best_z(100), best_z(wanted, 100));
  }
  const Accumulators none(wanted.height, wanted.width);
  first->restore(none);
  EXPECT_TRUE(same_bits(first->accumulators(), none));
  const auto other = make_cpu_backend(p, cpu::plan_memory(shape_of(p), {1, 3}));
  other->correlate(units);
  other->restore(none);
  EXPECT_TRUE(same_bits(other->accumulators(), none));
}

TEST(Fused, RefusesSumsThatLeaveTheirRangeAndNamesThePixel) {
  Problem large = noise_problem({64, 80, 16}, 1, 1e6f);
  Problem no_number = noise_problem({64, 80, 16}, 1);
  no_number.image_spectrum[7] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Unit> units = {{0, 1}};
  on_every_instruction_set([&] {
    for (const Problem* p : {&large, &no_number}) {
      try {
        by_fused(*p, units);
        ADD_FAILURE() << "it was accepted";
      } catch (const InputError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("a pixel is extreme"));
      }
    }
  });
}

TEST(Fused, RefusesASumOfSquaresAtTheEndOfItsRange) {
  const Problem p = noise_problem({64, 80, 16}, 1);
  Accumulators full(49, 65);
  full.squares[49 * 65 - 1] = static_cast<int64_t>(kSquareLimit) - 1;
  const std::vector<Unit> units = make_units(orientations(), true);
  const auto backend = fused_backend(p);
  backend->restore(full);
  try {
    backend->correlate(units);
    FAIL() << "it was accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("48"), testing::HasSubstr("64")));
  }
}

TEST(Fused, MeasuresItsRateOnAnySize) {
  for (const ProblemShape& shape : {ProblemShape{64, 64, 16, 1}, ProblemShape{70, 112, 18, 2}}) {
    for (const int threads : {1, 3}) {
      const double rate = measure_rate(shape, fused::plan_memory(shape, {.threads = threads}));
      EXPECT_GT(rate, 0);
      EXPECT_TRUE(std::isfinite(rate));
    }
  }
}

TEST(Fused, MeasuresInLessMemoryThanTheSearch) {
  for (const ProblemShape& shape :
       {ProblemShape{64, 64, 16, 1}, ProblemShape{70, 112, 18, 40},
        ProblemShape{4096, 4096, 512, 1}, ProblemShape{4096, 4096, 512, 13},
        ProblemShape{1024, 1000, 64, 3}}) {
    for (const int threads : {1, 2, 7, 32, 256, 4096}) {
      const MemoryPlan plan = fused::plan_memory(shape, {.threads = threads});
      EXPECT_LT(measuring_bytes(shape, plan), plan.total())
          << shape.height << " x " << shape.width << ", " << threads << " threads";
    }
  }
  const ProblemShape large{4096, 4096, 512, 1};
  EXPECT_LT(measuring_bytes(large, fused::plan_memory(large, {.threads = 2})), 200'000'000u);
}

constexpr uint64_t kTwoGigabytes = 2'000'000'000;

TEST(Fused, HoldsAMicrographInTwoGigabytes) {
  const auto bytes = [](int planes, int threads) {
    const ProblemShape large{4096, 4096, 512, planes, 1'600'000};
    return fused::plan_memory(large, {.threads = threads}).total();
  };
  // As docs/cpu.md has it.
  EXPECT_LT(bytes(1, 2), kTwoGigabytes);
  // Vectors of 16 lanes take 0.6 MB more for each thread.
  const int many = vector_width() > 8 ? 24 : 32;
  EXPECT_LT(bytes(1, many), kTwoGigabytes);
  EXPECT_LT(bytes(11, many), kTwoGigabytes);
  EXPECT_LT(bytes(13, 16), kTwoGigabytes);
  EXPECT_LT(bytes(70, 2), kTwoGigabytes);
  // Planes add filters and a unit's projections, threads their own memory and a projection.
  EXPECT_LT(bytes(13, 128), bytes(1, 128) + 100'000'000);
  EXPECT_LT(bytes(1, 128), kTwoGigabytes + 128 * 5'000'000);
}

TEST(Fused, FillsItsGroups) {
  for (const int threads : {1, 2, 7, 64}) {
    for (int planes = 1; planes < 45; ++planes) {
      const ProblemShape shape{512, 512, 64, planes, 1'600'000};
      const MemoryPlan plan = fused::plan_memory(shape, {.threads = threads});
      const int transforms = plan.batch * planes;
      const int groups = (transforms + plan.transforms - 1) / plan.transforms;
      EXPECT_LE(plan.transforms, 16);
      EXPECT_GE(10 * transforms, 9 * 16 * groups)
          << planes << " planes, " << threads << " threads, " << plan.batch << " units";
      EXPECT_GE(plan.batch, threads);
    }
  }
}

TEST(Fused, ShrinksTheBatchBeforeTheGroup) {
  const ProblemShape large{4096, 4096, 512, 13, 1'600'000};
  const MemoryPlan many = fused::plan_memory(large, {.threads = 64});
  EXPECT_EQ(many.batch, 5) << "65 projections for 64 threads";
  EXPECT_GE(many.transforms, 5);
  const MemoryPlan asked = fused::plan_memory(large, {.threads = 64, .batch = 64});
  EXPECT_EQ(asked.batch, 64);
  const MemoryPlan limited =
      fused::plan_memory(large, {.threads = 64, .batch = 64}, asked.total() - 400'000'000);
  EXPECT_EQ(limited.transforms, asked.transforms);
  EXPECT_LT(limited.batch, 64);
  EXPECT_LE(limited.total(), asked.total() - 400'000'000);
  // Where a smaller group would save nothing, it stays.
  const MemoryPlan tight = fused::plan_memory(large, {.threads = 64}, many.total() - 90'000'000);
  EXPECT_GE(tight.transforms, 5);
}

TEST(Fused, ShrinksToTheMemoryThatIsFree) {
  const ProblemShape shape{1024, 1024, 128, 1, 1'600'000};
  const MemoryPlan whole = fused::plan_memory(shape, {.threads = 1});
  EXPECT_EQ(whole.transforms, 16);
  const MemoryPlan less = fused::plan_memory(shape, {.threads = 1}, whole.total() - 20'000'000);
  EXPECT_LE(less.total(), whole.total() - 20'000'000);
  EXPECT_LT(less.transforms, whole.transforms);
  const MemoryPlan least = fused::plan_memory(shape, {.threads = 1}, 1);
  EXPECT_EQ(least.transforms, 1);
  EXPECT_EQ(least.batch, 1);
}

TEST(Fused, KeepsGroupsLargeInLittleMemory) {
  const ProblemShape large{4096, 4096, 512, 13, 1'600'000};
  const auto mean_group = [&](const MemoryPlan& plan) {
    const int transforms = 13 * plan.batch;
    return transforms / ((transforms + plan.transforms - 1) / plan.transforms);
  };
  EXPECT_GE(mean_group(fused::plan_memory(large, {.threads = 2})), 5);
  // What lies between the passes would be needed for the results anyway.
  const MemoryPlan little = fused::plan_memory(large, {.threads = 2}, 1'900'000'000);
  EXPECT_LE(little.total(), 1'900'000'000u);
  EXPECT_GE(mean_group(little), 4);
}

TEST(Fused, MakesLargerGroupsInMoreMemory) {
  const ProblemShape large{4096, 4096, 512, 13, 1'600'000};
  const auto plan = [](const ProblemShape& shape, uint64_t memory, uint64_t free = 0) {
    return fused::plan_memory(shape, {.threads = 2, .memory = memory}, free);
  };
  const MemoryPlan usual = plan(large, kTwoGigabytes);
  const MemoryPlan more = plan(large, 3'000'000'000);
  const MemoryPlan full = plan(large, 4'000'000'000);
  EXPECT_GT(more.transforms, usual.transforms);
  EXPECT_LE(more.total(), 3'000'000'000u);
  EXPECT_EQ(full.transforms, 16);
  EXPECT_LE(full.total(), 4'000'000'000u);
  EXPECT_EQ(plan(large, 40'000'000'000).total(), full.total()) << "more would not be faster";
  EXPECT_LE(plan(large, 4'000'000'000, kTwoGigabytes).total(), kTwoGigabytes) << "what is free";
}

TEST(Fused, MakesNoGroupSmallerInMoreMemory) {
  const auto mean_group = [](const ProblemShape& shape, const MemoryPlan& plan) {
    const int transforms = shape.planes * plan.batch;
    return static_cast<double>(transforms) / std::ceil(1.0 * transforms / plan.transforms);
  };
  for (const int planes : {1, 5, 11}) {
    for (const int threads : {1, 2, 64}) {
      for (const uint64_t free : {uint64_t{0}, kTwoGigabytes}) {
        const ProblemShape shape{4096, 4096, 512, planes, 1'600'000};
        const MemoryPlan usual = fused::plan_memory(shape, {.threads = threads}, free);
        for (const uint64_t memory : {2'100'000'000u, 2'200'000'000u, 4'000'000'000u}) {
          const MemoryPlan more =
              fused::plan_memory(shape, {.threads = threads, .memory = memory}, free);
          EXPECT_GE(mean_group(shape, more), mean_group(shape, usual))
              << planes << " planes, " << threads << " threads, " << memory << ", " << free;
          EXPECT_LE(more.total(), std::max<uint64_t>(memory, usual.total()));
        }
      }
    }
  }
  // Beside the results, which take more than the passes, larger groups take no memory.
  const ProblemShape huge{8184, 11520, 512, 13, 1'600'000};
  const MemoryPlan usual = fused::plan_memory(huge, {.threads = 2});
  const MemoryPlan more = fused::plan_memory(huge, {.threads = 2, .memory = 3'000'000'000});
  EXPECT_GT(more.transforms, usual.transforms);
  EXPECT_LE(more.total(), usual.total());
}

TEST(Fused, TakesTheBatchThatItIsGivenWhereThereIsMemory) {
  const ProblemShape shape{512, 512, 64, 3, 1'600'000};
  const MemoryPlan asked = fused::plan_memory(shape, {.threads = 2, .batch = 1 << 20});
  EXPECT_EQ(asked.batch, 1 << 20);
  const MemoryPlan limited =
      fused::plan_memory(shape, {.threads = 2, .batch = 1 << 20}, asked.total() / 2);
  EXPECT_LE(limited.total(), asked.total() / 2);
  EXPECT_GT(limited.batch, (1 << 19) - 10'000);
  const ProblemShape few{512, 512, 64, 3, 4};
  EXPECT_EQ(fused::plan_memory(few, {.threads = 8}).batch, 4);
  EXPECT_EQ(fused::plan_memory(few, {.threads = 8, .batch = 100}).batch, 4);
}

}  // namespace
}  // namespace engine::cpu::fused
