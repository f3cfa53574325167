#include "engine/cuda/residence.h"

#include <gtest/gtest.h>

namespace engine::cuda {
namespace {

constexpr uint64_t kKibibyte = 1024;

Multiprocessor sm_90() {
  return {.shared_bytes = 228 * kKibibyte,
          .reserved_bytes = kKibibyte,
          .registers = 65536,
          .threads = 2048,
          .blocks = 32};
}
Multiprocessor sm_75() {
  return {.shared_bytes = 64 * kKibibyte, .registers = 65536, .threads = 1024, .blocks = 16};
}

// The kernels of docs/cuda.md, lengths of 2304.
constexpr BlockNeeds kTemplateRows{.shared_bytes = 39168, .threads = 288, .registers = 56};
constexpr BlockNeeds kColumnsInTwo{.shared_bytes = 74496, .threads = 96, .registers = 166};
constexpr BlockNeeds kLastRows{.shared_bytes = 69120, .threads = 288, .registers = 96};

TEST(Residence, IsLimitedByWhateverRunsOutFirst) {
  EXPECT_EQ(resident_blocks(sm_90(), kTemplateRows), 4);  // registers
  EXPECT_EQ(resident_blocks(sm_90(), kColumnsInTwo), 3);  // shared memory
  EXPECT_EQ(resident_blocks(sm_90(), kLastRows), 2);      // registers
  EXPECT_EQ(resident_blocks(sm_75(), kLastRows), 0);
  EXPECT_EQ(resident_blocks(sm_90(), {.threads = 256, .registers = 16}), 8);  // threads
  EXPECT_EQ(resident_blocks(sm_90(), {.threads = 32, .registers = 16}), 32);  // blocks
}

// 166 registers are given to a warp as 168, and a quarter has room for three such warps.
TEST(Residence, CountsRegistersByWarpsInEachQuarter) {
  EXPECT_EQ(resident_blocks(sm_90(), {.threads = 128, .registers = 166}), 3);
  EXPECT_EQ(resident_blocks(sm_90(), {.threads = 96, .registers = 168}), 4);
  EXPECT_EQ(resident_blocks(sm_90(), {.threads = 96, .registers = 169}), 2);
}

TEST(SharedPercent, HoldsTheResidentBlocksAndLeavesTheRestToTheCache) {
  EXPECT_EQ(shared_percent(sm_90(), kTemplateRows), 69);  // 157 of 228 KiB
  EXPECT_EQ(shared_percent(sm_90(), kColumnsInTwo), 98);
  EXPECT_EQ(shared_percent(sm_90(), kLastRows), 61);
  EXPECT_EQ(shared_percent(sm_90(), {.shared_bytes = 2048, .threads = 256, .registers = 32}), 11);
}

// 48 KiB are what a block may have without asking for more, but not what two of them get.
TEST(SharedPercent, IsAskedForBelow48KibibytesToo) {
  EXPECT_EQ(shared_percent(sm_75(), {.shared_bytes = 30 * kKibibyte, .threads = 192}), 94);
  EXPECT_EQ(shared_percent(sm_90(), {.shared_bytes = 48 * kKibibyte, .threads = 144}), 86);
}

TEST(SharedPercent, IsNotAskedForWhereASecondBlockHasNoRoom) {
  EXPECT_EQ(shared_percent(sm_90(), {.shared_bytes = 132 * kKibibyte, .threads = 512}),
            std::nullopt);
  EXPECT_EQ(shared_percent(sm_75(), {.shared_bytes = 40 * kKibibyte, .threads = 192}),
            std::nullopt);
  EXPECT_EQ(shared_percent(sm_90(), {.threads = 256, .registers = 32}), std::nullopt);
}

}  // namespace
}  // namespace engine::cuda
