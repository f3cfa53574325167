// Long bulk jobs in segments: what is urgent does not wait for their ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "scheduler/simulate/simulate.h"
#include "scheduler/simulate/summary.h"
#include "tests/unit/scheduler/policy/example_cluster.h"

namespace scheduler {
namespace {

using db::Priority;

Trace full_cluster(std::optional<std::chrono::milliseconds> segment) {
  Trace trace{.nodes = kExampleNodes, .model = example_model()};
  trace.config.cluster = ClusterKind::kSlurm;
  trace.config.policy.widths = WidthsBy::kChosen;
  trace.config.policy.segment = segment;
  trace.config.slurm.gpus_per_node = 4;
  trace.config.slurm.max_jobs = 1'000'000;
  for (int i = 0; i < 2 * kExampleGpus; ++i) {
    trace.items.push_back({.priority = Priority::kLow, .work = kLong, .actual_work = kLong});
  }
  trace.items.push_back(
      {.arrival = 90 * 60, .priority = Priority::kUrgent, .work = kLong, .actual_work = kLong});
  return trace;
}

TEST(SegmentsSimulation, AnUrgentItemIsDoneWithinASegmentAndItsOwnTime) {
  const Trace cut = full_cluster(std::chrono::hours(1));
  const Simulation simulation = simulate(cut, SimulatedPolicy::kOurs);
  const SimulatedItem& urgent = simulation.items.back();
  EXPECT_LE(urgent.started - 90 * 60, kHour + 1);
  EXPECT_LE(urgent.ended - 90 * 60, 2.0 * kHour);
  EXPECT_EQ(urgent.jobs, 1);
  const Simulation whole = simulate(full_cluster(std::nullopt), SimulatedPolicy::kOurs);
  EXPECT_GT(whole.items.back().ended - 90 * 60, 11 * kHour);
}

TEST(SegmentsSimulation, EachSearchIsDoneInSegmentsThatCostTheirStartsAlone) {
  const Trace cut = full_cluster(std::chrono::hours(1));
  const Simulation simulation = simulate(cut, SimulatedPolicy::kOurs);
  for (const SimulatedItem& item : simulation.items) EXPECT_GT(item.ended, 0);
  EXPECT_GE(simulation.items.front().jobs, 16);
  for (const SimulatedRun& run : simulation.runs) {
    if (cut.items[run.item].priority != Priority::kLow) continue;
    EXPECT_LE(run.ended - run.started, kHour + 1);
  }
  const double whole = simulate(full_cluster(std::nullopt), SimulatedPolicy::kOurs).gpu_seconds;
  EXPECT_NEAR(simulation.gpu_seconds / whole, 1.0, 0.02);
}

}  // namespace
}  // namespace scheduler
