// Whole searches in this process: the same bits however the work is divided; and a planted particle
// is found where it is.

#include "engine/search/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>

#include "engine/backend/available_memory.h"
#include "engine/backend/precision_error.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/error.h"
#include "engine/numerics/fft.h"
#include "engine/numerics/simulate.h"
#include "engine/search/device.h"
#include "tests/require.h"
#include "tests/unit/engine/search/small_search.h"

namespace engine {
namespace {

class SearchBy : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) == kFftw && fft_library().name != kFftw) {
      MARGAY_SKIP_FOR_WANT_OF("fftw", "this build has no FFTW");
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Transforms, SearchBy, testing::Values("fused", "fftw"));

TEST_P(SearchBy, GivesTheSameBitsForEveryNumberOfThreadsAndEveryBatch) {
  SmallSearch f;
  f.fft = GetParam();
  ASSERT_GE(f.search.space.units.size(), 20u);
  const Accumulators reference = run_whole(f, 1, 1);
  for (const int threads : {1, 2, 3}) {
    for (const int batch : {1, 2, 3, 5, 8, 64}) {
      EXPECT_TRUE(same_bits(run_whole(f, threads, batch), reference))
          << threads << " threads, batch " << batch;
    }
  }
}

TEST_P(SearchBy, GivesTheSameBitsForChunksFinishedOutOfOrder) {
  SmallSearch f;
  f.fft = GetParam();
  const Accumulators reference = run_whole(f, 1, 1);
  std::mt19937 random(7);
  for (const size_t chunk : {size_t{1}, size_t{3}, f.search.space.units.size()}) {
    std::vector<Unit> units = f.search.space.units;
    std::shuffle(units.begin(), units.end(), random);
    const auto backend = f.backend(2, 4);
    for (size_t i = 0; i < units.size(); i += chunk) {
      backend->correlate(std::span(units).subspan(i, std::min(chunk, units.size() - i)));
    }
    EXPECT_TRUE(same_bits(backend->accumulators(), reference)) << "chunks of " << chunk;
  }
}

TEST_P(SearchBy, GivesTheSameBitsWhenTwoHalvesAreMerged) {
  SmallSearch f;
  f.fft = GetParam();
  const std::span<const Unit> units(f.search.space.units);
  const auto first = f.backend(1, 3);
  const auto second = f.backend(2, 4);
  first->correlate(units.subspan(0, 11));
  second->correlate(units.subspan(11));
  Accumulators merged = second->accumulators();
  merge(merged, first->accumulators());
  EXPECT_TRUE(same_bits(merged, run_whole(f, 1, 1)));
}

TEST_P(SearchBy, WithOddZernikesCorrelatesEveryOrientationOnItsOwn) {
  SearchConfig config = small_config();
  config.optics.odd_zernikes = {{"Z31c", 0.4}};
  SmallSearch f(config);
  f.fft = GetParam();
  for (const Unit& unit : f.search.space.units) EXPECT_LT(unit.second, 0);
  EXPECT_TRUE(same_bits(run_whole(f, 3, 5), run_whole(f, 1, 1)));
}

TEST_P(SearchBy, PairsGiveWhatSingleOrientationsGive) {
  SmallSearch f;
  f.fft = GetParam();
  const Accumulators paired = run_whole(f, 1, 4);
  Search single = f.search;
  single.space.units = make_units(single.space.list, false);
  const auto backend = f.backend(1, 4);
  const std::atomic<bool> never = false;
  const Accumulators alone = run_search(single, *backend, {}, never).accumulators;
  const int64_t n = f.search.space.correlations();
  for (size_t i = 0; i < alone.best.size(); ++i) {
    ASSERT_NEAR(best_value(alone.best[i]), best_value(paired.best[i]), 2e-4) << i;
    ASSERT_NEAR(moments(alone.sum[i], alone.squares[i], n).sd,
                moments(paired.sum[i], paired.squares[i], n).sd, 1e-4);
  }
}

TEST(MemoryPlan, CountsTheOrientationsAndNoMoreUnitsThanThereAre) {
  const cpu::CpuOptions greedy{.threads = 1, .batch = 1000000};
  const ProblemShape few{64, 64, 16, 1, 50};
  EXPECT_EQ(cpu::plan_memory(few, greedy).batch, 50);
  ProblemShape many = few;
  many.orientations = 100000000;
  EXPECT_GT(cpu::plan_memory(many, {.threads = 1, .batch = 50}).total(),
            cpu::plan_memory(few, {.threads = 1, .batch = 50}).total() + 24 * uint64_t{99999950});
}

TEST(Devices, ThePlanThatIsShownIsMade) {
  const SmallSearch f;
  const Problem& p = f.search.problem;
  const ProblemShape shape{p.height, p.width, p.template_size, p.planes(),
                           static_cast<int64_t>(p.orientations.size())};
  const DevicePlan plan = plan_device(shape, {.backend = "cpu", .threads = 2, .batch = 3});
  EXPECT_EQ(plan.fft, "fused");
  EXPECT_EQ(plan.precision, "fp32");
  EXPECT_EQ(std::get<cpu::MemoryPlan>(plan.work).total(), plan.bytes);
  const auto backend = make_backend(p, plan);
  EXPECT_EQ(backend->batch(), 3);
  EXPECT_EQ(backend->precision(), "fp32");
}

TEST(Devices, TheProcessorUsesTheMemoryThatItIsGiven) {
  if (available_memory() < 5'000'000'000) {
    MARGAY_SKIP_FOR_WANT_OF("memory", "5 GB have to be free for the plan, which takes none");
  }
  const ProblemShape shape{4096, 4096, 512, 1, 1'600'000};
  const auto bytes = [&](double gigabytes) {
    const DeviceOptions options{.backend = "cpu", .threads = 1, .memory = gigabytes};
    return plan_device(shape, options).bytes;
  };
  EXPECT_LE(bytes(2), 2'000'000'000u);
  EXPECT_GT(bytes(4), 2'500'000'000u);
  EXPECT_LE(bytes(4), 4'000'000'000u);
}

TEST(Search, LosesNothingToASampleThatWasMeasuredBefore) {
  const SmallSearch f;
  const std::vector<Unit> sample = sample_units(f.search.space.units, 3);
  const auto backend = f.backend(1, 2);
  const Accumulators once = accumulate_sample(*backend, sample);
  const Accumulators again = accumulate_sample(*backend, sample);
  EXPECT_TRUE(same_bits(once, again));
  EXPECT_EQ(precision_error(once, again, 3).largest, 0);
  EXPECT_GT(precision_error(once, run_whole(f, 1, 4), 3).rms, 0.1) << "nothing was compared";
  const std::atomic<bool> never = false;
  const RunResult result = run_search(f.search, *backend, {}, never);
  EXPECT_TRUE(same_bits(result.accumulators, run_whole(f, 1, 4)));
}

TEST(Search, DoesNotDependOnTheScaleOfTheTemplatesDensity) {
  const SearchConfig config = small_config();
  const Image micrograph = small_micrograph(config);
  const auto run = [&](float scale) {
    Volume volume = blobs();
    for (float& voxel : volume.voxels) voxel *= scale;
    SmallSearch f;
    f.search = prepare_search(config, micrograph, volume);
    return run_whole(f, 1, 4);
  };
  // Powers of two, so that no rounding differs.
  const Accumulators reference = run(1.0f);
  EXPECT_TRUE(same_bits(run(std::ldexp(1.0f, -40)), reference)) << "a faint template";
  EXPECT_TRUE(same_bits(run(std::ldexp(1.0f, 40)), reference)) << "a strong template";
  // Floats cannot hold the squares of these.
  for (const int exponent : {-90, 80}) {
    const Accumulators other = run(std::ldexp(1.0f, exponent));
    for (size_t i = 0; i < reference.best.size(); ++i) {
      ASSERT_NEAR(best_value(other.best[i]), best_value(reference.best[i]), 1e-5) << exponent;
    }
  }
}

TEST(Search, RefusesValuesBeyondSinglePrecisionByTheirField) {
  const auto why_not = [](const SearchConfig& config, float scale) -> std::string {
    Volume volume = blobs();
    for (float& voxel : volume.voxels) voxel *= scale;
    try {
      prepare_search(config, small_micrograph(small_config()), volume);
    } catch (const InputError& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_THAT(why_not(small_config(), 3e37f), testing::HasSubstr("template_volume_path"));
  SearchConfig config = small_config();
  config.optics.voltage = 1e-300;
  EXPECT_THAT(why_not(config, 1.0f),
              testing::AllOf(testing::HasSubstr("test.yaml"), testing::HasSubstr("optics_group")));
}

// A hot pixel of a million took z from 4.46 to 3.88 where it was tried.
TEST(Search, NotesAPixelThatNoMoleculeMakes) {
  const SearchConfig config = small_config();
  // One pixel alone can be as many deviations away as the root of their number.
  Image micrograph =
      simulate(blobs(), config.optics, {.height = 120, .width = 120, .seed = 5}).micrograph;
  EXPECT_THAT(prepare_search(config, micrograph, blobs()).notes, testing::IsEmpty());
  micrograph.pixels[2 * 120 + 5] = 1e6f;
  EXPECT_THAT(prepare_search(config, micrograph, blobs()).notes,
              testing::ElementsAre(testing::AllOf(testing::HasSubstr("(row 2, column 5)"),
                                                  testing::HasSubstr("remove hot pixels"))));
}

TEST(Search, RefusesMoreCorrelationsThanAnIndexCanTellApart) {
  SearchConfig config = small_config();
  config.orientations = {{.psi_step = 0.02, .theta_step = 0.6}};
  EXPECT_THROW(make_search_space(config), InputError);
}

TEST(Search, EndsWithThePixelNamedWhenASumLeavesItsRange) {
  const SmallSearch f;
  const auto backend = f.backend(2, 4);
  Accumulators full = backend->accumulators();
  full.squares[13 * static_cast<size_t>(full.width) + 7] = static_cast<int64_t>(kSquareLimit) - 1;
  backend->restore(full);
  try {
    backend->correlate(f.search.space.units);
    FAIL() << "an overflow went unnoticed";
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("row 13, column 7"));
    EXPECT_THAT(e.what(), testing::HasSubstr("most extreme pixel"));
  }
}

TEST(Statistics, KeysOrderByValueThenByTheLowerIndex) {
  EXPECT_GT(pack_best(1.5f, 9), pack_best(1.25f, 3));
  EXPECT_GT(pack_best(-1.0f, 9), pack_best(-2.0f, 3));
  EXPECT_GT(pack_best(0.5f, 9), pack_best(-2.0f, 3));
  EXPECT_GT(pack_best(2.0f, 3), pack_best(2.0f, 4));
  EXPECT_EQ(pack_best(-0.0f, 3), pack_best(0.0f, 3));
  for (const float value : {-7.25f, -1e-30f, 0.0f, 3.5f, 1e6f}) {
    EXPECT_EQ(best_value(pack_best(value, 123456)), value);
    EXPECT_EQ(best_index(pack_best(value, 123456)), 123456u);
  }
}

TEST(Simulation, IsTheSameForTheSameSeedAndAnotherForAnother) {
  const SearchConfig config = small_config();
  const auto make = [&](uint64_t seed) {
    return simulate(blobs(), config.optics,
                    {.height = 64, .width = 80, .particles = 2, .seed = seed});
  };
  EXPECT_EQ(make(3).micrograph.pixels, make(3).micrograph.pixels);
  EXPECT_NE(make(3).micrograph.pixels, make(4).micrograph.pixels);
}

TEST(Simulation, RefusesParticlesThatDoNotFit) {
  EXPECT_THROW(
      simulate(blobs(), small_config().optics, {.height = 40, .width = 40, .particles = 100}),
      InputError);
}

}  // namespace
}  // namespace engine
