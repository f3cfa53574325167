// A steady stream of `high` items keeps the cluster full: what `low` ones get of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "scheduler/policy/floors.h"
#include "scheduler/simulate/simulate.h"
#include "tests/unit/scheduler/policy/example_cluster.h"

namespace scheduler {
namespace {

using db::Priority;

constexpr double kWork = kHour;
constexpr size_t kLowItems = 40;
constexpr double kLowFrom = 3 * kHour;
constexpr double kStreamUntil = 60 * kHour;

// More high items than the GPUs can take, without a break.
Trace stream_of_high_items(int nodes, double floor) {
  Trace trace{.nodes = nodes, .model = example_model()};
  trace.config.cluster = ClusterKind::kSlurm;
  trace.config.policy.widths = WidthsBy::kChosen;
  trace.config.policy.classes[Priority::kLow].floor = floor;
  trace.config.slurm.gpus_per_node = 4;
  trace.config.slurm.max_jobs = 1'000'000;
  const double every = kWork / (nodes * 4) / 1.3;
  for (double at = 0; at < kStreamUntil; at += every) {
    trace.items.push_back(
        {.arrival = at, .priority = Priority::kHigh, .work = kWork, .actual_work = kWork});
  }
  for (size_t i = 0; i < kLowItems; ++i) {
    trace.items.push_back(
        {.arrival = kLowFrom, .priority = Priority::kLow, .work = kWork, .actual_work = kWork});
  }
  std::stable_sort(trace.items.begin(), trace.items.end(),
                   [](const auto& a, const auto& b) { return a.arrival < b.arrival; });
  return trace;
}

std::vector<double> starts_of_low(const Trace& trace) {
  const Simulation simulation = simulate(trace, SimulatedPolicy::kOurs);
  std::vector<double> starts;
  for (size_t i = 0; i < trace.items.size(); ++i) {
    if (trace.items[i].priority == Priority::kLow) starts.push_back(simulation.items[i].started);
  }
  std::sort(starts.begin(), starts.end());
  return starts;
}

// Of the item that so many go before, as `explain` has it when the cluster is full.
double bound_of(const Trace& trace, double floor, int64_t before) {
  const double run = run_seconds(trace.model, kWork, Width{});
  const double late = bounded(run, trace.model, kNinetyPercent);
  const Floor known{.share = floor,
                    .usable = 4 * trace.nodes,
                    .job_gpus = 1,
                    .job_seconds = late,
                    .first_wait = late,
                    .later_waits = late};
  return *longest_wait(known, before);
}

TEST(FloorsSimulation, LowItemsGetTheirFloorWithinTheBoundUnderASteadyStream) {
  for (const int nodes : {1, 16}) {
    const Trace trace = stream_of_high_items(nodes, 0.05);
    const std::vector<double> starts = starts_of_low(trace);
    size_t during = 0;
    for (size_t i = 0; i < starts.size(); ++i) {
      EXPECT_LE(starts[i] - kLowFrom, bound_of(trace, 0.05, static_cast<int64_t>(i)))
          << "item " << i << " on " << nodes << " nodes";
      if (starts[i] < kStreamUntil) ++during;
    }
    // 5 % of the GPU hours from 3 to 60 h: of 4 GPUs 11.4 jobs, of 64 all that there are.
    EXPECT_GE(during, nodes == 1 ? 10 : kLowItems);
  }
}

TEST(FloorsSimulation, WithoutAFloorLowItemsWaitForTheEndOfTheStream) {
  const std::vector<double> starts = starts_of_low(stream_of_high_items(16, 0));
  EXPECT_GE(starts.front(), kStreamUntil);
}

// Its floor costs the class above no more than the floor.
TEST(FloorsSimulation, HighItemsLoseNoMoreThanTheFloor) {
  const Trace trace = stream_of_high_items(16, 0.05);
  const Simulation simulation = simulate(trace, SimulatedPolicy::kOurs);
  double low = 0;
  double all = 0;
  for (const SimulatedRun& run : simulation.runs) {
    const double until = std::min(run.ended, kStreamUntil);
    const double from = std::max(run.started, kLowFrom);
    if (until <= from) continue;
    all += run.gpus * (until - from);
    if (trace.items[run.item].priority == Priority::kLow) low += run.gpus * (until - from);
  }
  EXPECT_LE(low, 0.05 * all);
}

}  // namespace
}  // namespace scheduler
