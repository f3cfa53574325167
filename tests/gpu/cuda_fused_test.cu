// The fused path on a real device: its kernels at small lengths, then every path and precision as
// the program makes them.
#include "engine/cuda/device_words.cuh"
#include "engine/cuda/fused/half_words.cuh"
//
#include <set>
#include <span>

#include "engine/backend/transform_path.h"
#include "engine/cuda/fused/backend.h"
#include "engine/cuda/fused_plan.h"
#include "engine/search/device.h"
#include "engine/search/selftest.h"
#include "tests/gpu/on_gpu.h"
#include "tests/unit/engine/cuda/fused/fused_cases.h"
#include "tests/unit/engine/cuda/fused/half_cases.h"
#include "tests/unit/engine/cuda/fused/precision_cases.h"

namespace tests {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(OnAGpu, CudaFused, OnGpu);
INSTANTIATE_TYPED_TEST_SUITE_P(OnAGpu, CudaFusedHalves, OnGpu);
INSTANTIATE_TYPED_TEST_SUITE_P(OnAGpu, CudaPrecision, OnGpu);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CudaSearch);

// The length that has columns in two stages; small enough for compute-sanitizer.
class CudaFusedColumnsInTwo : public CudaFused<OnGpu> {
 protected:
  template <typename Storage>
  using Path = OneTile<Storage, 2304, kShort, cuda::ColumnKernel::kInTwo>;
  static constexpr SearchCase kCase{.name = "2304 points", .height = 2274, .width = 56, .n = 16};
};

TEST_F(CudaFusedColumnsInTwo, GiveTheMapsOfTheCpu) {
  // Enough units for the steps of the sums of squares, 2^-16, to even out.
  expect_maps_of_the_cpu<Path<cuda::SingleStorage>>(kCase, 3e-6, 8);
  expect_maps_of_the_cpu<Path<cuda::HalfArithmetic>>(kCase, 5e-3, 2);
}

TEST_F(CudaFusedColumnsInTwo, MakeNothingLargerInHalfPrecision) {
  SearchCase gain = kCase;
  gain.n = 32;
  gain.paired = false;
  expect_the_gain_of_one<Path<cuda::HalfArithmetic>>(gain);
}

TEST_F(CudaFusedColumnsInTwo, GiveTheSameBitsInEitherOrderOfTheirBlocks) {
  const engine::Search search = search_of(kCase);
  const auto bits = [&](cuda::ColumnGrid grid) {
    return maps(*backend<Path<cuda::SingleStorage>>(search, 4, grid), search, 4);
  };
  EXPECT_TRUE(
      same_bits(bits(cuda::ColumnGrid::kTransformsFirst), bits(cuda::ColumnGrid::kChunksFirst)));
}

class CudaFusedRowsAhead : public CudaFused<OnGpu> {
 protected:
  template <typename Storage>
  static void expect_the_same_bits() {
    using Path = OneTile<Storage, kShort, 2304>;
    const engine::Search search =
        search_of({.name = "2304 points", .height = 56, .width = 2274, .n = 16});
    const auto bits = [&](bool ahead) {
      return maps(
          *backend<Path>(search, 4, cuda::ColumnGrid::kTransformsFirst, Path::kColumns, ahead),
          search, 4);
    };
    EXPECT_TRUE(same_bits(bits(true), bits(false)));
  }
};

TEST_F(CudaFusedRowsAhead, GiveTheSameBitsAsRowsReadInTurn) {
  expect_the_same_bits<cuda::SingleStorage>();
  expect_the_same_bits<cuda::HalfArithmetic>();
}

struct Path {
  const char* fft;
  const char* precision;
  double bound;  // of the rms of the maps, against the CPU
};

std::string name_of(const Path& path) { return std::string(path.fft) + " " + path.precision; }

constexpr Path kPaths[] = {
    {"cufft", "fp32", 1e-4}, {"fused", "fp32", 1e-4}, {"fused", "fp16", 1e-2}};

class CudaPaths : public testing::Test {
 protected:
  void SetUp() override {
    const std::string missing = OnGpu::missing();
    if (!missing.empty()) MARGAY_SKIP_FOR_WANT_OF("gpu", missing);
  }

  static engine::DeviceOptions options(const Path& path, int batch = 0) {
    return {.backend = "cuda", .batch = batch, .fft = path.fft, .precision = path.precision};
  }
  static std::unique_ptr<engine::Backend> backend(const engine::Search& search, const Path& path,
                                                  int batch = 0) {
    const engine::DevicePlan plan =
        engine::plan_device(shape_of(search.problem), options(path, batch));
    EXPECT_EQ(plan.fft, path.fft);
    EXPECT_EQ(plan.precision, path.precision);
    return engine::make_backend(search.problem, plan);
  }
};

TEST_F(CudaPaths, GiveTheMapsOfTheCpu) {
  const SearchCase cases[] = {
      {.name = "one tile", .height = 300, .width = 412, .n = 64, .planes = 2},
      {.name = "several tiles", .height = 1210, .width = 834, .n = 128},
      {.name = "single orientations",
       .height = 530,
       .width = 614,
       .n = 96,
       .planes = 3,
       .paired = false},
      {.name = "template as large as the image less two", .height = 258, .width = 260, .n = 256},
      {.name = "a template that nearly fills the shortest tile",
       .height = 512,
       .width = 510,
       .n = 500}};
  for (const SearchCase& c : cases) {
    const engine::Search search = search_of(c);
    const engine::Accumulators expected = run_on_cpu(search);
    const int64_t count = search.space.correlations();
    EXPECT_GT(engine::best_z(expected, count), 0.5) << c.name << ": nothing to compare";
    for (const Path& path : kPaths) {
      const Deviations d = deviations(run_on(*backend(search, path), search), expected, count);
      EXPECT_LT(d.mip, path.bound) << c.name << ", " << name_of(path);
      EXPECT_LT(d.mean, path.bound) << c.name << ", " << name_of(path);
      EXPECT_LT(d.sd, path.bound) << c.name << ", " << name_of(path);
    }
  }
}

// The largest number up to `most` without a prime factor above 7. Other transforms take the CPU and
// the library many times as long.
int smooth_number(int most) {
  for (int number = most;; --number) {
    int rest = number;
    for (const int prime : {2, 3, 5, 7}) {
      while (rest % prime == 0) rest /= prime;
    }
    if (rest == 1) return number;
  }
}

// Nearly fills one tile of this length: the shortest with large primes and an odd side, the others
// in times that a check can spare.
SearchCase case_that_fills(int length) {
  const int height = length <= 512 ? length - 6 : smooth_number(length - 6);
  const int width = length <= 512 ? length - 15 : smooth_number(height - 1);
  return {.name = "", .height = height, .width = width, .n = 64};
}

// The paths choose the length that suits the image: the longest are for large ones, of which a few
// units have to do.
TEST_F(CudaPaths, GiveTheMapsOfTheLibraryAtEveryCompiledLength) {
  const uint64_t shared_bytes = engine::cuda::require_device(0).shared_bytes;
  std::set<int> seen;
  for (const Path& path : std::span(kPaths).subspan(1)) {
    const cuda::FusedKernels kernels =
        cuda::fused_kernels(engine::choose_transforms("cuda", path.fft, path.precision).precision);
    for (const int length : cuda::lengths_within(kernels, shared_bytes)) {
      SCOPED_TRACE(name_of(path) + ", length " + std::to_string(length));
      const engine::Search search = search_of(case_that_fills(length));
      const auto units = std::span<const engine::Unit>(search.space.units).first(12);
      const auto expected = backend(search, kPaths[0]);
      expected->correlate(units);
      const cuda::MemoryPlan plan =
          cuda::plan_fused_memory(shape_of(search.problem), kernels, std::vector{length}, 5);
      const auto found = cuda::make_fused_backend(search.problem, plan, 0);
      found->correlate(units);
      const Deviations d = deviations(found->accumulators(), expected->accumulators(), 24);
      EXPECT_LT(d.mip, path.bound);
      EXPECT_LT(d.mean, path.bound);
      EXPECT_LT(d.sd, path.bound);
      seen.insert(length);
    }
  }
  EXPECT_GT(seen.size(), 0u);
}

TEST_F(CudaPaths, GiveTheSameBitsForEveryBatch) {
  for (const bool paired : {true, false}) {
    const engine::Search search = search_of(
        {.name = "", .height = 700, .width = 530, .n = 64, .planes = 3, .paired = paired});
    ASSERT_GE(search.space.units.size(), 18u);
    for (const Path& path : kPaths) {
      const engine::Accumulators expected = run_on(*backend(search, path), search);
      for (const int batch : {1, 7, 64}) {
        EXPECT_TRUE(same_bits(run_on(*backend(search, path, batch), search), expected))
            << name_of(path) << ", batch " << batch;
      }
    }
  }
}

TEST_F(CudaPaths, FindTheSamePeaks) {
  const engine::Search search = planted_search(560, 640, 32, 6);
  const auto cpu = engine::cpu::make_cpu_backend(
      search.problem, engine::cpu::plan_memory(shape_of(search.problem), {}));
  const std::vector<engine::Peak> expected = peaks_of(*cpu, search);
  ASSERT_GE(expected.size(), 6u) << "nothing to compare";
  for (const Path& path : kPaths) {
    EXPECT_EQ(fault_of_peaks(peaks_of(*backend(search, path), search), expected), "")
        << name_of(path);
  }
}

TEST_F(CudaPaths, FindWhatWasPlantedInACropMadeFromAtoms) {
  for (const Path& path : kPaths) {
    const engine::SelftestResult result = engine::run_selftest(MARGAY_TEST_DATA, options(path));
    EXPECT_TRUE(result.passed) << name_of(path) << testing::PrintToString(result.lines);
  }
}

TEST_F(CudaPaths, AreRefusedToATemplateThatIsTooLong) {
  try {
    engine::plan_device({9000, 9000, 4098, 1, 1000}, {.backend = "cuda", .fft = "fused"});
    FAIL() << "a template of 4098 pixels was accepted";
  } catch (const engine::InputError& error) {
    EXPECT_NE(std::string(error.what()).find("4098 pixels"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tests
