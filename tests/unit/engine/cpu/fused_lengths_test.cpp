// Which lengths the fused path takes, and in which order it leaves a spectrum.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <vector>

#include "engine/cpu/fused/lengths.h"
#include "engine/cpu/fused/line.h"
#include "engine/cpu/fused/roots.h"

namespace engine::cpu::fused {
namespace {

TEST(FusedLengths, AreProductsOfTheirFactors) {
  for (int length = 2; length <= 6000; ++length) {
    const std::vector<int> factors = factors_of(length);
    if (factors.empty()) continue;
    EXPECT_EQ(std::accumulate(factors.begin(), factors.end(), 1, std::multiplies<>()), length);
    EXPECT_EQ(std::count(factors.begin(), factors.end() - 1, 16), 0) << length;
  }
  EXPECT_EQ(factors_of(1024), (std::vector<int>{8, 8, 16}));
  EXPECT_EQ(factors_of(4096), (std::vector<int>{8, 8, 8, 8}));
  EXPECT_FALSE(factors_of(5760).empty());
  EXPECT_FALSE(factors_of(11520).empty());
  EXPECT_TRUE(factors_of(11).empty());
  EXPECT_TRUE(factors_of(4092).empty());
}

TEST(FusedLengths, OfASideAreAtLeastThatAndNotMuchLonger) {
  for (int side = 2; side <= 12000; side += 26) {
    const int rows = padded_length(side, 2);
    const int columns = padded_length(side, kTile);
    EXPECT_GE(rows, side);
    EXPECT_FALSE(factors_of(rows).empty()) << side;
    EXPECT_EQ(columns % kTile, 0) << side;
    EXPECT_GE(columns, side);
    EXPECT_FALSE(factors_of(columns).empty()) << side;
    EXPECT_LE(columns, side + std::max(kTile, side / 6)) << side;
  }
}

TEST(FusedLengths, ThatAreGoodAreTakenAsTheyAre) {
  for (const int side : {256, 512, 1024, 2048, 4096, 5760, 11520}) {
    EXPECT_EQ(padded_length(side, kTile), side);
    EXPECT_EQ(padded_length(side, 2), side);
  }
  EXPECT_EQ(padded_length(4092, 2), 4096);
}

TEST(FusedLine, HasEachFrequencyOnce) {
  for (const int length : {2, 16, 48, 90, 336, 1024, 5760}) {
    const Line line(length);
    EXPECT_EQ(line.parts * line.part, line.length);
    std::vector<int> sorted = line.frequencies;
    std::sort(sorted.begin(), sorted.end());
    std::vector<int> all(static_cast<size_t>(length));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(sorted, all) << length;
  }
}

TEST(FusedRoots, AreThoseOfUnity) {
  for (size_t of : {2u, 3u, 5u, 7u, 9u, 16u}) {
    for (size_t k = 0; k < of; ++k) {
      const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(of);
      EXPECT_NEAR(root_of_unity(k, of).re, std::cos(angle), 1e-7) << k << " of " << of;
      EXPECT_NEAR(root_of_unity(k, of).im, std::sin(angle), 1e-7) << k << " of " << of;
    }
  }
}

}  // namespace
}  // namespace engine::cpu::fused
