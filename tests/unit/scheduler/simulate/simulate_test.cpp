#include "scheduler/simulate/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "scheduler/simulate/summary.h"
#include "tests/unit/scheduler/policy/example_cluster.h"
#include "tests/unit/scheduler/simulate/example_trace.h"

namespace scheduler {
namespace {

using db::Priority;
using testing::ElementsAre;

TEST(Simulate, AnUrgentItemPassesABacklogUnlessItIsFirstComeFirstServed) {
  std::vector<TraceItem> items(300, item_at(0, Priority::kNormal, kHour));
  items.push_back(item_at(1800, Priority::kUrgent, kHour));
  const Trace trace = example_trace(items);
  const Simulation ours = simulate(trace, SimulatedPolicy::kOurs);
  const Simulation first_come = simulate(trace, SimulatedPolicy::kFirstCome);
  EXPECT_LT(ours.items.back().ended, 1.6 * kHour);
  EXPECT_GT(first_come.items.back().ended, 5 * kHour);
}

// At 100 s one GPU is free, and the others, as far as anybody knows, only after 16 hours. They are
// free at 635 s.
TEST(Simulate, AnUrgentItemIsStoppedForAWiderJobAndKeepsWhatItHasDone) {
  TraceItem shorter = item_at(0, Priority::kLow);
  shorter.actual_work = 600;
  std::vector<TraceItem> items(63, shorter);
  items.push_back(item_at(100, Priority::kUrgent, 4 * kHour));
  Trace trace = example_trace(items);
  trace.config.slurm.max_pending = 100;
  const Simulation simulation = simulate(trace, SimulatedPolicy::kOurs);
  const SimulatedItem& urgent = simulation.items.back();
  EXPECT_EQ(urgent.started, 100);
  EXPECT_EQ(urgent.jobs, 2);
  EXPECT_EQ(urgent.width, kWholeCluster);
  EXPECT_DOUBLE_EQ(urgent.ended, 636 + 65 + 1.04 / 64 * (14435 - 535));
  EXPECT_DOUBLE_EQ(simulation.gpu_seconds, 63 * 635 + 535 + 64 * (urgent.ended - 636));
}

TEST(Simulate, ManyArrivalsWithinATickCostOnePlan) {
  std::vector<TraceItem> items;
  for (int i = 0; i < 60; ++i) items.push_back(item_at(0.01 * i, Priority::kLow, 60));
  Trace trace = example_trace(items);
  trace.config.slurm.max_pending = 1000;
  trace.tick = 10;
  EXPECT_LE(simulate(trace, SimulatedPolicy::kOneGpu).plans, 6);
}

TEST(Simulate, NoPlanIsMadeWhileNothingIsReadyAndNoUrgentJobRuns) {
  std::vector<TraceItem> items;
  for (int i = 0; i < 50; ++i) items.push_back(item_at(10 * i, Priority::kLow, 7));
  EXPECT_EQ(simulate(example_trace(items), SimulatedPolicy::kOurs).plans, 50);
}

TEST(Simulate, AnItemThatTakesLongerThanExpectedHoldsItsGpuForSoLong) {
  TraceItem item = item_at(0, Priority::kLow, kHour);
  item.actual_work = 2 * kHour;
  EXPECT_THAT(ends(simulate(example_trace({item}), SimulatedPolicy::kOurs)),
              ElementsAre(2 * kHour + 35));
}

TEST(Simulate, ADeadlineThatOneGpuMissesGetsMore) {
  TraceItem item = item_at(0, Priority::kLow);
  item.deadline = 6 * kHour;
  const Trace trace = example_trace({item});
  EXPECT_EQ(summary_with(trace).missed, 0);
  EXPECT_EQ(summary_with(trace, SimulatedPolicy::kOneGpu).missed, 1);
}

TEST(Simulate, AnItemWithADeadlinePassesALongQueueOfItsClass) {
  std::vector<TraceItem> items(500, item_at(0, Priority::kNormal, kHour));
  items.push_back(item_at(60, Priority::kNormal, kHour));
  items.back().deadline = 4 * kHour;
  EXPECT_EQ(summary_with(example_trace(items)).missed, 0);
}

TEST(Simulate, JobsOfOthersHoldTheirGpusUntilTheirEndAndAreNotCountedAmongTheItems) {
  Trace trace = example_trace({item_at(0, Priority::kLow, kHour)});
  trace.running.assign(1, {.width = kWholeCluster, .rest = 1000});
  const Simulation simulation = simulate(trace, SimulatedPolicy::kOurs);
  EXPECT_EQ(simulation.items.front().started, 1000);
  EXPECT_EQ(simulation.gpu_seconds, kHour + 35);
  const Summary summary = summary_of(trace, simulation);
  EXPECT_DOUBLE_EQ(summary.gpu_hours, (kHour + 35) / kHour);
  EXPECT_DOUBLE_EQ(summary.utilisation, (64 * 1000 + kHour + 35) / (64 * (1000 + kHour + 35)));
  trace.running.push_back({.rest = 1});
  EXPECT_THROW(simulate(trace, SimulatedPolicy::kOurs), std::invalid_argument);
}

TEST(Simulate, TheSameTraceGivesTheSameResult) {
  std::vector<TraceItem> items;
  for (int i = 0; i < 200; ++i) {
    items.push_back(item_at(97.3 * i, i % 7 == 0 ? Priority::kUrgent : Priority::kLow, 1000 + i));
  }
  const Trace trace = example_trace(items);
  EXPECT_EQ(ends(simulate(trace, SimulatedPolicy::kOurs)),
            ends(simulate(trace, SimulatedPolicy::kOurs)));
}

TEST(Summary, HasTheGpusThatWereBusyInEachPartOfTheTime) {
  const Trace trace =
      example_trace({item_at(100, Priority::kNormal, 10), item_at(100, Priority::kUrgent, 10)});
  Simulation simulation;
  simulation.items = {{.started = 100, .ended = 140}, {.started = 110, .ended = 125}};
  simulation.runs = {{.item = 1, .gpus = 4, .started = 110, .ended = 125},
                     {.item = 0, .gpus = 1, .started = 100, .ended = 140}};
  const auto busy = busy_gpus(trace, simulation, 4);
  ASSERT_EQ(busy.size(), 2U);
  EXPECT_EQ(busy[0].priority, Priority::kUrgent);
  EXPECT_THAT(busy[0].gpus, ElementsAre(0, 4, 2, 0));
  EXPECT_THAT(busy[1].gpus, ElementsAre(1, 1, 1, 1));
}

TEST(Summary, HasTheGpusOfOthersApart) {
  Trace trace = example_trace({item_at(100, Priority::kNormal, 10)});
  trace.running = {{.width = kOneNode, .rest = 120}, {.rest = 50}};
  Simulation simulation;
  simulation.items = {{.started = 100, .ended = 140}};
  simulation.runs = {{.item = 0, .gpus = 1, .started = 100, .ended = 140}};
  simulation.gpu_seconds = 40;
  const auto busy = busy_gpus(trace, simulation, 4);
  ASSERT_EQ(busy.size(), 2U);
  EXPECT_FALSE(busy[1].priority);
  EXPECT_THAT(busy[1].gpus, ElementsAre(4, 4, 0, 0)) << "from the first arrival";
  EXPECT_DOUBLE_EQ(summary_of(trace, simulation).utilisation, (40 + 4 * 20) / (64 * 40.0));
}

TEST(Summary, HasTheWaitsAndCompletionsOfEachClass) {
  const Trace trace =
      example_trace({item_at(0, Priority::kNormal, 10), item_at(5, Priority::kUrgent, 10),
                     item_at(10, Priority::kNormal, 10)});
  Simulation simulation;
  simulation.items = {
      {.started = 1, .ended = 20}, {.started = 5, .ended = 30}, {.started = 30, .ended = 40}};
  simulation.gpu_seconds = 40;
  const Summary summary = summary_of(trace, simulation);
  ASSERT_EQ(summary.classes.size(), 2U);
  EXPECT_EQ(summary.classes[0].priority, Priority::kUrgent) << "most urgent first";
  EXPECT_EQ(summary.classes[0].completion.median, 25);
  EXPECT_EQ(summary.classes[1].items, 2);
  EXPECT_EQ(summary.classes[1].wait.median, 1);
  EXPECT_EQ(summary.classes[1].wait.ninety, 20);
  EXPECT_EQ(summary.makespan, 40);
  EXPECT_EQ(summary.first_result, 20);
  EXPECT_DOUBLE_EQ(summary.utilisation, 40.0 / (64 * 40));
  EXPECT_DOUBLE_EQ(summary.wasted, 10 / kHour);
}

}  // namespace
}  // namespace scheduler
