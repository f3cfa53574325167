// The worked examples of docs/policy.md, as the daemon's policy works them off in virtual time.
#include "scheduler/simulate/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "scheduler/simulate/summary.h"
#include "tests/unit/scheduler/policy/example_cluster.h"

namespace scheduler {
namespace {

using db::Priority;
using testing::Each;
using testing::ElementsAre;

constexpr Width kNarrow{};
constexpr Width kOneNode{.gpus_per_node = 4};
constexpr Width kWholeCluster{.nodes = kExampleNodes, .gpus_per_node = 4};

Trace example_trace(std::vector<TraceItem> items = {}) {
  Trace trace{.nodes = kExampleNodes, .model = example_model(), .items = std::move(items)};
  trace.config.cluster = ClusterKind::kSlurm;
  trace.config.policy.widths = WidthsBy::kChosen;
  trace.config.slurm.gpus_per_node = 4;
  trace.config.slurm.max_jobs = 1'000'000;
  return trace;
}

TraceItem item_at(double arrival, Priority priority, double work = kLong) {
  return {.arrival = arrival, .priority = priority, .work = work, .actual_work = work};
}

Trace with_items(size_t count, Priority priority) {
  return example_trace(std::vector<TraceItem>(count, item_at(0, priority)));
}

Summary summary_with(const Trace& trace, SimulatedPolicy policy = SimulatedPolicy::kOurs) {
  return summary_of(trace, simulate(trace, policy));
}

std::vector<double> ends(const Simulation& simulation) {
  std::vector<double> ends;
  for (const SimulatedItem& item : simulation.items) ends.push_back(item.ended);
  std::sort(ends.begin(), ends.end());
  return ends;
}

std::vector<Width> widths(const Simulation& simulation) {
  std::vector<Width> widths;
  for (const SimulatedItem& item : simulation.items) widths.push_back(item.width);
  return widths;
}

double rounded(double value, double step) { return step * std::round(value / step); }

TEST(Simulate, ABacklogIsDoneAfterTheDocumentedTimeWithAGpuEach) {
  const Trace trace = with_items(500, Priority::kLow);
  for (const auto policy : {SimulatedPolicy::kOurs, SimulatedPolicy::kOneGpu}) {
    const Simulation simulation = simulate(trace, policy);
    const Summary summary = summary_of(trace, simulation);
    EXPECT_THAT(widths(simulation), Each(kNarrow));
    EXPECT_NEAR(rounded(summary.makespan / kHour, 0.1), 128.1, 1e-6);
    EXPECT_NEAR(rounded(summary.first_result / kHour, 0.1), 16.0, 1e-6);
    EXPECT_NEAR(rounded(summary.gpu_hours, 1), 8005, 1e-6);
    EXPECT_NEAR(summary.wasted, 500 * 35 / kHour, 1e-6) << "start-up and serial part";
  }
}

// Rule 2 widens what is left when fewer items than GPUs are ready, which ends no later.
TEST(Simulate, TheLastItemsOfABacklogGetMoreGpusWhereTheirClassMay) {
  const Trace trace = with_items(500, Priority::kNormal);
  const Simulation simulation = simulate(trace, SimulatedPolicy::kOurs);
  const Summary summary = summary_of(trace, simulation);
  const std::vector<Width> all = widths(simulation);
  EXPECT_EQ(std::count(all.begin(), all.end(), kNarrow), 484);
  EXPECT_EQ(std::count(all.begin(), all.end(), kOneNode), 16);
  EXPECT_NEAR(rounded(summary.makespan / kHour, 0.1), 128.1, 1e-6);
  EXPECT_NEAR(rounded(summary.first_result / kHour, 0.1), 16.0, 1e-6);
  EXPECT_NEAR(rounded(summary.gpu_hours, 1), 8008, 1e-6);
}

TEST(Simulate, ABacklogWithANodeEachHasItsFirstResultSoonerAndTakesLonger) {
  const Trace trace = with_items(500, Priority::kNormal);
  const Summary summary = summary_with(trace, SimulatedPolicy::kOneNode);
  EXPECT_NEAR(rounded(summary.makespan / kHour, 0.1), 129.6, 1e-6);
  EXPECT_NEAR(rounded(summary.first_result / kHour, 0.1), 4.1, 1e-6);
  EXPECT_NEAR(rounded(summary.gpu_hours, 1), 8102, 1e-6);
}

TEST(Simulate, ABacklogWithTheWholePartitionEachWastesATenth) {
  const Trace trace = with_items(500, Priority::kNormal);
  const Summary summary = summary_with(trace, SimulatedPolicy::kWholePartition);
  EXPECT_NEAR(rounded(summary.makespan / kHour, 0.1), 139.0, 1e-6);
  EXPECT_NEAR(rounded(summary.gpu_hours, 1), 8898, 1e-6);
  EXPECT_NEAR(summary.utilisation, 1, 1e-9);
}

TEST(Simulate, AFewLowItemsGetAGpuEach) {
  const Trace trace = with_items(3, Priority::kLow);
  const Simulation simulation = simulate(trace, SimulatedPolicy::kOurs);
  EXPECT_THAT(widths(simulation), Each(kNarrow));
  EXPECT_NEAR(rounded(summary_of(trace, simulation).makespan / kHour, 0.1), 16.0, 1e-6);
}

TEST(Simulate, AFewNormalItemsGetANodeEach) {
  const Trace trace = with_items(3, Priority::kNormal);
  const Simulation simulation = simulate(trace, SimulatedPolicy::kOurs);
  EXPECT_THAT(widths(simulation), Each(kOneNode));
  EXPECT_THAT(ends(simulation), Each(14584));
  EXPECT_NEAR(rounded(summary_of(trace, simulation).makespan / kHour, 0.01), 4.05, 1e-6);
}

TEST(Simulate, AFewUrgentItemsGetTheWholeClusterInTurn) {
  const Trace trace = with_items(3, Priority::kUrgent);
  const Simulation simulation = simulate(trace, SimulatedPolicy::kOurs);
  EXPECT_THAT(widths(simulation), Each(kWholeCluster));
  EXPECT_THAT(ends(simulation), ElementsAre(1001, 2002, 3003));
}

// Each GPU runs a job of `length`, and those of a node end together after the expected rest, but
// the first job, after that of the first of all.
std::vector<TraceItem> behind_one_gpu_jobs(double length) {
  std::vector<TraceItem> items;
  const auto add = [&](double rest) {
    items.push_back(item_at(length + rest, Priority::kLow, length - 35));
  };
  for (int node = kExampleNodes; node >= 1; --node) {
    for (int gpu = 0; gpu < 4; ++gpu) {
      add(node == 1 && gpu == 0 ? length / 65 : length * mean_wait(node));
    }
  }
  items.push_back(item_at(2 * length, Priority::kUrgent));
  std::stable_sort(items.begin(), items.end(),
                   [](const auto& a, const auto& b) { return a.arrival < b.arrival; });
  return items;
}

TEST(Simulate, AnUrgentItemBehindLongJobsGetsANodeAndMoreOnceTwoMoreAreFree) {
  const Trace trace = example_trace(behind_one_gpu_jobs(kLong));
  const Simulation simulation = simulate(trace, SimulatedPolicy::kOurs);
  std::vector<SimulatedRun> runs;
  for (const SimulatedRun& run : simulation.runs) {
    if (run.item + 1 == trace.items.size()) runs.push_back(run);
  }
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].gpus, 4);
  const double alone = runs[0].started + run_seconds(trace.model, kLong, kOneNode);
  EXPECT_NEAR(rounded((alone - 2 * kLong) / kHour, 0.1), 11.2, 1e-6);
  EXPECT_EQ(runs[1].gpus, 8);
  EXPECT_LT(runs[1].ended, alone);
}

TEST(Simulate, AnUrgentItemBehindJobsOfAnHourGetsHalfTheCluster) {
  const Trace trace = example_trace(behind_one_gpu_jobs(kHour));
  const SimulatedItem urgent = simulate(trace, SimulatedPolicy::kOurs).items.back();
  EXPECT_EQ(urgent.width, (Width{.nodes = 8, .gpus_per_node = 4}));
  EXPECT_NEAR(rounded((urgent.ended - 2 * kHour) / kHour, 0.01), 1.36, 1e-6);
}

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
