#include "scheduler/forecast/runtime_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "tests/unit/scheduler/policy/example_cluster.h"

namespace scheduler {
namespace {

struct Row {
  int gpus;
  double minutes;
  double efficiency;
};

Width of(int gpus) { return gpus < 4 ? Width{} : Width{.nodes = gpus / 4, .gpus_per_node = 4}; }

// The table of docs/policy.md.
TEST(RuntimeModel, HasTheDurationsOfTheWorkedExamples) {
  for (const Row& row : {Row{1, 960.6, .999}, Row{4, 243.1, .987}, Row{8, 123.5, .972},
                         Row{16, 62.3, .963}, Row{32, 32.0, .938}, Row{64, 16.7, .899}}) {
    EXPECT_NEAR(run_seconds(example_model(), 16 * kHour, of(row.gpus)) / 60, row.minutes, 0.05);
    EXPECT_NEAR(efficiency(example_model(), 16 * kHour, of(row.gpus)), row.efficiency, 0.0005);
  }
  for (const Row& row : {Row{1, 240.6, 0}, Row{4, 61.3, 0}, Row{8, 31.7, 0}, Row{16, 16.4, 0},
                         Row{32, 8.8, 0}, Row{64, 5.0, 0}}) {
    EXPECT_NEAR(run_seconds(example_model(), 4 * kHour, of(row.gpus)) / 60, row.minutes, 0.05);
  }
  EXPECT_NEAR(run_seconds(example_model(), 16 * kHour, of(64), Start::kWarm) / 60, 15.7, 0.05);
  EXPECT_NEAR(efficiency(example_model(), 16 * kHour, of(64), Start::kWarm), .956, 0.0005);
  EXPECT_NEAR(run_seconds(example_model(), 4 * kHour, of(64), Start::kWarm) / 60, 4.0, 0.05);
}

TEST(RuntimeModel, TakesTheLossBetweenMeasuredWidthsFromBoth) {
  EXPECT_DOUBLE_EQ(straggler_loss(example_model(), 2), 0.005) << "half of the way, by doublings";
  EXPECT_DOUBLE_EQ(straggler_loss(example_model(), 64), 0.04);
  EXPECT_DOUBLE_EQ(straggler_loss(example_model(), 1000), 0.04) << "beyond what was measured";
  EXPECT_DOUBLE_EQ(straggler_loss({.straggler_loss = {{4, 0.01}}}, 1), 0.01);
  EXPECT_DOUBLE_EQ(straggler_loss({.straggler_loss = {}}, 8), 0);
}

TEST(RuntimeModel, BoundsADurationByItsSpread) {
  EXPECT_NEAR(bounded(100, {.sigma = 0.2}, kNinetyPercent), 100 * std::exp(0.25632), 1e-9);
  EXPECT_DOUBLE_EQ(bounded(100, {.sigma = 0.2}, kMedian), 100);
}

TEST(RuntimeModel, ATimeLimitIsRoundedUpAndStaysWithinThePartitions) {
  const RuntimeModel exact{.sigma = 0};
  EXPECT_EQ(time_limit(exact, 1000, 120, 0), 1500) << "1150 + 120 s";
  EXPECT_EQ(time_limit(exact, 1200, 120, 0), 1500) << "1380 + 120 s are five times five minutes";
  EXPECT_EQ(time_limit(exact, 1000, 120, 1200), 1200);
  EXPECT_EQ(time_limit(exact, 1000, -1, 0), 1200);
}

TEST(RuntimeModel, RefusesNegativeWork) {
  EXPECT_THROW(run_seconds(example_model(), -1, {}), std::invalid_argument);
  EXPECT_THROW(run_seconds(example_model(), std::nan(""), {}), std::invalid_argument);
}

}  // namespace
}  // namespace scheduler
