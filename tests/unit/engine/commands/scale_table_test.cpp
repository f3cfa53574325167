#include "engine/commands/scale_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace engine {
namespace {

ScaleTable table_of(std::vector<double> seconds) {
  ScaleTable table{.correlations = 100};
  for (const double one : seconds) {
    table.rows.push_back({.ranks = static_cast<int>(table.rows.size()) + 1, .seconds = one});
  }
  return table;
}

TEST(ScaleDoubt, AnEfficiencyThatNoHardwareExplainsIsDoubted) {
  EXPECT_EQ(scale_doubt(table_of({10})), "");
  EXPECT_EQ(scale_doubt(table_of({10, 5, 4})), "");
  EXPECT_EQ(scale_doubt(table_of({10, 4.8})), "") << "caches";
  EXPECT_THAT(scale_doubt(table_of({10, 4, 3})),
              testing::StartsWith("2 ranks had an efficiency of 125.0 %: the run with 1 rank"));
}

}  // namespace
}  // namespace engine
