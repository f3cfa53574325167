// How the fused path is planned: which lengths a device takes, and how much memory.
#include "engine/cuda/fused_plan.h"

#include <gmock/gmock.h>

#include "engine/cuda/cuda_memory.h"
#include "engine/error.h"

namespace engine::cuda {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kKib = 1024;

FusedKernels kernels(Precision precision = Precision::kFp32) {
  return {.precision = precision,
          .lengths = {{512, 17 * kKib}, {1536, 54 * kKib}, {2304, 75 * kKib}},
          .number_bytes = precision == Precision::kFp32 ? 8 : 4,
          .most_transforms = 32};
}

const std::vector<int> kAll = {512, 1536, 2304};
constexpr ProblemShape kLarge{4096, 4096, 512, 13, 1584000};

// What require_lengths throws, with its kind before it.
std::string refusal(const FusedKernels& of, uint64_t shared_bytes, int n) {
  try {
    require_lengths(of, shared_bytes, n, "NVIDIA T4 (sm_75)");
  } catch (const UsageError& error) {
    return std::string("usage: ") + error.what();
  } catch (const InputError& error) {
    return std::string("input: ") + error.what();
  }
  return "none";
}

TEST(CudaFusedLengths, AreThoseThatTheSharedMemoryOfTheDeviceHolds) {
  EXPECT_THAT(lengths_within(kernels(), 227 * kKib), ElementsAre(512, 1536, 2304));
  EXPECT_THAT(lengths_within(kernels(), 75 * kKib), ElementsAre(512, 1536, 2304));
  EXPECT_THAT(lengths_within(kernels(), 75 * kKib - 1), ElementsAre(512, 1536));
  EXPECT_THAT(lengths_within(kernels(), 16 * kKib), IsEmpty());
  EXPECT_THAT(require_lengths(kernels(), 64 * kKib, 1536, "any"), ElementsAre(512, 1536));
}

TEST(CudaFusedLengths, ThatTakeNoTemplateOfThisSizeAreRefusedWithIt) {
  EXPECT_THAT(refusal(kernels(), 64 * kKib, 1538),
              AllOf(HasSubstr("input: --fft fused"), HasSubstr("template of 1538 pixels"),
                    HasSubstr("longer than 1536"), HasSubstr("NVIDIA T4 (sm_75)"),
                    HasSubstr("--fft cufft")));
}

TEST(CudaFusedLengths, ThatTheDeviceHasNoSharedMemoryForAreRefused) {
  EXPECT_THAT(refusal(kernels(Precision::kFp16), 16 * kKib, 100),
              AllOf(HasSubstr("usage: --precision fp16"), HasSubstr("16 KiB"),
                    HasSubstr("512 points, needs 17 KiB"), HasSubstr("--fft cufft (in fp32)")));
}

TEST(CudaFusedLengths, ThatTheBuildLacksAreRefused) {
  EXPECT_THAT(refusal({.precision = Precision::kFp16, .lengths = {}}, 64 * kKib, 100),
              AllOf(HasSubstr("usage: --precision fp16: not in this build"),
                    HasSubstr("--fft cufft (in fp32)")));
}

TEST(CudaFusedMemory, ShrinksBatchAndPassesUntilTheyFitAndNothingThatDecidesBits) {
  const MemoryPlan whole = plan_fused_memory(kLarge, kernels(), kAll, 64);
  EXPECT_EQ(whole.batch, 64);
  EXPECT_EQ(whole.fused->transforms, 32) << "as many as a pass takes";
  const uint64_t less = whole.total() - (uint64_t{4} << 30);
  const MemoryPlan shrunk = plan_fused_memory(kLarge, kernels(), kAll, 64, 0, less);
  EXPECT_LT(shrunk.batch, 64);
  EXPECT_LT(shrunk.fused->transforms, 32);
  EXPECT_LE(shrunk.total(), less);
  EXPECT_EQ(shrunk.fused->tiling.rows.length, whole.fused->tiling.rows.length);
  EXPECT_EQ(shrunk.projections, whole.projections);
  EXPECT_EQ(shrunk.projections, plan_memory(kLarge, 64).projections);
  const MemoryPlan tiny = plan_fused_memory(kLarge, kernels(), kAll, 64, 0, 1000);
  EXPECT_EQ(tiny.batch, 1);
  EXPECT_EQ(tiny.fused->transforms, 1);
  EXPECT_GT(tiny.total(), 1000u) << "the caller has to see that it does not fit";
}

TEST(CudaFusedMemory, GivesHalfOfWhatIsFreeToTheExchange) {
  const MemoryPlan plan = plan_fused_memory(kLarge, kernels(), kAll, 1, 0, uint64_t{6} << 30);
  EXPECT_EQ(plan.fused->transforms, 13) << "a batch has no more";
  // 4 tiles of 1800 lines of 2304 points are 133 MB a transform.
  const MemoryPlan small = plan_fused_memory(kLarge, kernels(), kAll, 1, 0, 2400000000);
  EXPECT_EQ(small.fused->transforms, 9);
  EXPECT_EQ(small.batch, 1);
}

TEST(CudaFusedMemory, HasTheTilesInPlaceOfTheLibrarysPasses) {
  const MemoryPlan plan = plan_fused_memory(kLarge, kernels(), kAll, 4, 123456789);
  std::string names;
  uint64_t sum = 0;
  for (const MemoryItem& item : plan.items) {
    names += item.name + "; ";
    sum += item.bytes;
  }
  EXPECT_EQ(plan.total(), sum);
  EXPECT_THAT(names, AllOf(HasSubstr("tile spectra"), HasSubstr("correlations on their way"),
                           HasSubstr("template rows"), HasSubstr("statistics")));
  EXPECT_THAT(names, testing::Not(HasSubstr("row and column passes")));
  EXPECT_EQ(plan.total(), plan_fused_memory(kLarge, kernels(), kAll, 4).total() + 123456789);
  const MemoryPlan halves = plan_fused_memory(kLarge, kernels(Precision::kFp16), kAll, 4);
  EXPECT_EQ(halves.precision, Precision::kFp16);
  EXPECT_LT(halves.total(), plan.total());
}

TEST(CudaFusedMemory, CountsTheLinesOfTwoLanesThatAreNotFull) {
  FusedKernels lanes = kernels(Precision::kFp16);
  const MemoryPlan plan = plan_fused_memory(kLarge, lanes, kAll, 4);
  for (CompiledLength& each : lanes.lengths) each.lane_step = each.length / 16;
  const MemoryPlan filled = plan_fused_memory(kLarge, lanes, kAll, 4);
  // The template's 512 rows are 288 and 224 more, of 288 that their lines hold; a tile's 1793 are
  // 6 x 288 and 65 more, none of which has a second lane.
  const uint64_t beyond = (288 - 224) + 4 * 65;
  EXPECT_EQ(filled.total() - plan.total(),
            beyond * static_cast<uint64_t>(plan.fused->transforms) * 2304 * 4);
}

TEST(CudaFusedPlan, ReadsRowsAheadInFp16WhereABlockMayHaveMuchSharedMemory) {
  const auto reads_ahead = [&](Precision precision, uint64_t block_bytes) {
    FusedKernels on = kernels(precision);
    on.block_bytes = block_bytes;
    return plan_fused_memory(kLarge, on, std::vector<int>{2304}, 4).fused->rows_ahead;
  };
  EXPECT_TRUE(reads_ahead(Precision::kFp16, 227 * kKib));
  EXPECT_FALSE(reads_ahead(Precision::kFp16, 163 * kKib));
  EXPECT_FALSE(reads_ahead(Precision::kFp32, 227 * kKib));
}

TEST(CudaFusedPlan, GrantsAMeasurementAnotherOrderAndOtherKernels) {
  const FusedKernels half = kernels(Precision::kFp16);
  FusedPlan plan = *plan_fused_memory(kLarge, half, std::vector<int>{2304}, 4).fused;
  grant({}, plan);
  EXPECT_EQ(plan.grid, ColumnGrid::kTransformsFirst);
  EXPECT_EQ(plan.columns, ColumnKernel::kInThree);
  EXPECT_TRUE(plan.rows_ahead);
  grant({.grid = ColumnGrid::kChunksFirst, .columns = ColumnKernel::kInTwo, .rows_ahead = false},
        plan);
  EXPECT_EQ(plan.grid, ColumnGrid::kChunksFirst);
  EXPECT_EQ(plan.columns, ColumnKernel::kInTwo);
  EXPECT_FALSE(plan.rows_ahead);
  FusedPlan other = *plan_fused_memory(kLarge, kernels(), std::vector<int>{1536}, 4).fused;
  try {
    grant({.columns = ColumnKernel::kInTwo}, other);
    FAIL() << "columns of 1536 were granted a kernel that there is not";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "columns of 1536 points have no kernel in two stages: ask for in-three");
  }
}

TEST(CudaFusedMemory, TakesAsManyUnitsAsFillThePasses) {
  // 7 x 13 transforms are 2 passes of 32 and one of 27; 5 x 13 would leave a pass with 1.
  EXPECT_EQ(plan_fused_memory(kLarge, kernels(), kAll, 0).batch, 7);
  ProblemShape few = kLarge;
  few.orientations = 3;
  few.planes = 2;
  const MemoryPlan plan = plan_fused_memory(few, kernels(), kAll, 0);
  EXPECT_EQ(plan.batch, 3) << "there are no more units";
  EXPECT_EQ(plan.fused->transforms, 6) << "nor more transforms";
}

TEST(CudaFusedPlan, IsSaidInWords) {
  EXPECT_EQ(describe_tiling(plan_fused_memory(kLarge, kernels(), kAll, 1).fused->tiling),
            "4 tiles of 2304 x 2304 pixels");
  EXPECT_EQ(describe_tiling({.rows = {512, {{0, 10}}}, .columns = {1536, {{0, 20}}}}),
            "1 tile of 512 x 1536 pixels");
}

}  // namespace
}  // namespace engine::cuda
