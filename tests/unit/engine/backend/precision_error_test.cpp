// The measured error of a reduced precision, and its sentence.
#include "engine/backend/precision_error.h"

#include <gmock/gmock.h>

namespace engine {
namespace {

std::vector<Unit> units_of(int64_t count) {
  std::vector<Unit> units;
  for (int64_t i = 0; i < count; ++i) units.push_back({i, -1});
  return units;
}

std::vector<int64_t> sampled(int64_t count, size_t wanted) {
  std::vector<int64_t> out;
  for (const Unit& unit : sample_units(units_of(count), wanted)) out.push_back(unit.first);
  return out;
}

TEST(PrecisionSample, IsSpreadOverTheWholeListAndNeverDrawn) {
  EXPECT_THAT(sampled(100, 4), testing::ElementsAre(12, 37, 62, 87));
  EXPECT_THAT(sampled(5, 4), testing::ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(sampled(4, 4), testing::ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(sampled(3, 4), testing::ElementsAre(0, 1, 2));
  EXPECT_EQ(sample_units(units_of(1584000)).size(), 16u);
}

TEST(PrecisionError, IsThatOfTheMaxima) {
  Accumulators exact(1, 4);
  Accumulators reduced(1, 4);
  const float values[] = {1.0f, -2.0f, 3.0f, 4.0f};
  for (uint32_t i = 0; i < 4; ++i) {
    exact.best[i] = pack_best(values[i], i);
    reduced.best[i] = pack_best(values[i] + (i == 1 ? -0.5f : 0.0f), i + 1);
  }
  const PrecisionError error = precision_error(exact, reduced, 16);
  EXPECT_EQ(error.units, 16);
  EXPECT_DOUBLE_EQ(error.rms, 0.25);
  EXPECT_DOUBLE_EQ(error.largest, 0.5);
  EXPECT_EQ(precision_error(exact, exact, 16).largest, 0);
  EXPECT_EQ(describe_precision_error("fp16", error),
            "precision fp16: over 16 units of this search the MIP differs from fp32's by 0.25 rms "
            "and 0.5 at most, in deviations of the noise");
}

}  // namespace
}  // namespace engine
