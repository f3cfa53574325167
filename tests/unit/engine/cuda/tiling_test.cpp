// Tiles cover the valid region once, whatever the sizes.
#include "engine/cuda/tiling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "engine/cuda/fused_plan.h"

namespace engine::cuda {
namespace {

constexpr std::array<int, 3> kSmall = {16, 24, 40};
constexpr std::array<int, 6> kReal = {512, 1024, 1536, 2304, 3072, 4096};

// The first thing that is wrong with an axis, or nothing.
std::string fault_of(const AxisTiling& axis, int extent, int n) {
  int next = 0;
  int smallest = extent;
  for (const AxisPart& part : axis.parts) {
    if (part.first != next) return "a gap or an overlap at " + std::to_string(next);
    if (part.count < 1) return "an empty part";
    if (part.count > axis.length - n + 1) return "a part that wraps round";
    smallest = std::min(smallest, part.count);
    next += part.count;
  }
  if (next != extent - n + 1) return "ends at " + std::to_string(next);
  return axis.largest_part() - smallest > 1 ? "uneven parts" : "";
}

TEST(CudaTiling, CoversTheValidRegionOnceForEverySize) {
  for (int extent = 2; extent <= 130; ++extent) {
    for (int n = 2; n <= extent; n += 2) {
      const auto axis = tile_axis(extent, n, kSmall);
      if (n > 40) {
        EXPECT_FALSE(axis) << n;
        continue;
      }
      ASSERT_TRUE(axis) << extent << " " << n;
      EXPECT_EQ(fault_of(*axis, extent, n), "") << extent << " " << n;
    }
  }
}

TEST(CudaTiling, CoversRealImagesToo) {
  for (const int extent : {512, 1024, 3710, 3838, 4092, 4096, 5760, 7676, 11520}) {
    for (int n = 2; n <= extent && n <= 4096; n += 2) {
      const auto axis = tile_axis(extent, n, kReal);
      ASSERT_TRUE(axis) << extent << " " << n;
      EXPECT_EQ(fault_of(*axis, extent, n), "") << extent << " " << n;
    }
  }
}

TEST(CudaTiling, EndsWhereALaunchHasNoRoomForMore) {
  constexpr std::array<int, 1> kShort = {512};
  const auto plan = [&](int n) {
    return plan_fused({5760, 4092, n, 1, 1000}, kShort, sizeof(float) * 2, 32);
  };
  EXPECT_TRUE(plan(480));
  EXPECT_FALSE(plan(500));
}

TEST(CudaTiling, EveryPixelOfANonSquareImageHasOneTile) {
  const auto tiling = tile_image(61, 95, 10, kSmall);
  ASSERT_TRUE(tiling);
  std::vector<int> owners(static_cast<size_t>(52 * 86));
  for (const TilePlace& place : tiling->places()) {
    for (int row = place.row; row < place.row + place.rows; ++row) {
      for (int column = place.column; column < place.column + place.columns; ++column) {
        ++owners.at(static_cast<size_t>(row * 86 + column));
      }
    }
  }
  EXPECT_EQ(owners, std::vector<int>(owners.size(), 1));
  EXPECT_GT(tiling->places().size(), 4u);
}

TEST(CudaTiling, ChoosesForTheImagesThatMatter) {
  struct Case {
    int extent, n, length;
    size_t parts;
  };
  for (const Case& c :
       {Case{4096, 512, 2304, 2}, Case{5760, 512, 2304, 3}, Case{4092, 512, 2304, 2},
        Case{3838, 512, 2304, 2}, Case{3710, 512, 2304, 2}, Case{4096, 384, 2304, 2},
        Case{3838, 384, 1536, 3}, Case{512, 128, 512, 1}, Case{4096, 4094, 4096, 1}}) {
    const auto axis = tile_axis(c.extent, c.n, kReal);
    ASSERT_TRUE(axis);
    EXPECT_EQ(axis->length, c.length) << c.extent << " " << c.n;
    EXPECT_EQ(axis->parts.size(), c.parts) << c.extent << " " << c.n;
  }
}

TEST(CudaTiling, RefusesATemplateThatNoTileHolds) {
  EXPECT_FALSE(tile_image(100, 100, 42, kSmall));
  EXPECT_TRUE(tile_image(100, 100, 40, kSmall));
}

TEST(CudaFusedPlan, APassHasAsManyTransformsAsTheExchangeHasRoomFor) {
  const ProblemShape shape{.height = 4096, .width = 4096, .template_size = 512, .planes = 13};
  // 2 x 2 tiles of 2304, of which 1793 rows are valid: 1796 in whole chunks.
  const uint64_t one = uint64_t{4} * 1796 * 2304 * 8;
  EXPECT_EQ(plan_fused(shape, kReal, 8, 32, 1)->transforms, 1);
  EXPECT_EQ(plan_fused(shape, kReal, 8, 32, one)->transforms, 1);
  EXPECT_EQ(plan_fused(shape, kReal, 8, 32, 5 * one - 1)->transforms, 4);
  EXPECT_EQ(plan_fused(shape, kReal, 4, 32, 5 * one)->transforms, 10);
  EXPECT_EQ(plan_fused(shape, kReal, 8, 32, 100 * one)->transforms, 32);
  EXPECT_EQ(plan_fused(shape, kReal, 8, 32, 2 * one)->items.back().bytes, 2 * one);
  EXPECT_FALSE(plan_fused({.height = 9000, .width = 9000, .template_size = 4098}, kReal, 8, 32));
}

}  // namespace
}  // namespace engine::cuda
