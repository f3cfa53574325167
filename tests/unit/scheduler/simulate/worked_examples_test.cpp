// The worked examples and scenarios of docs/policy.md, as the daemon's policy works them off in
// virtual time: to the last digit that is printed there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "scheduler/simulate/simulate.h"
#include "scheduler/simulate/summary.h"
#include "scheduler/simulate/trace_reader.h"
#include "tests/unit/scheduler/policy/example_cluster.h"
#include "tests/unit/scheduler/simulate/example_trace.h"

namespace scheduler {
namespace {

using db::Priority;
using testing::Each;
using testing::ElementsAre;

double rounded(double value, double step) { return step * std::round(value / step); }

struct Figures {
  double makespan_hours = 0;
  double first_result_hours = 0;
  double gpu_hours = 0;
};

void expect_figures(const Summary& summary, const Figures& figures) {
  EXPECT_NEAR(rounded(summary.makespan / kHour, 0.1), figures.makespan_hours, 1e-6);
  EXPECT_NEAR(rounded(summary.first_result / kHour, 0.1), figures.first_result_hours, 1e-6);
  EXPECT_NEAR(rounded(summary.gpu_hours, 1), figures.gpu_hours, 1e-6);
}

// Scenario 1, where all jobs are submitted at once. Where few may wait in the cluster, rule 2 gives
// the last items of a class that may have more what the others leave.
TEST(WorkedExamples, AsManyItemsAsGpusOrMoreGetOneEach) {
  for (const Priority priority : {Priority::kHigh, Priority::kNormal, Priority::kLow}) {
    for (const size_t count : {size_t{64}, size_t{128}}) {
      Trace trace = with_items(count, priority);
      trace.config.slurm.max_pending = 128;
      EXPECT_THAT(widths(simulate(trace, SimulatedPolicy::kOurs)), Each(kNarrow))
          << to_string(priority) << " " << count;
    }
  }
}

TEST(WorkedExamples, ABacklogIsDoneAfterTheDocumentedTimeWithAGpuEach) {
  const Trace trace = with_items(500, Priority::kLow);
  for (const auto policy : {SimulatedPolicy::kOurs, SimulatedPolicy::kOneGpu}) {
    const Simulation simulation = simulate(trace, policy);
    const Summary summary = summary_of(trace, simulation);
    EXPECT_THAT(widths(simulation), Each(kNarrow));
    expect_figures(summary,
                   {.makespan_hours = 128.1, .first_result_hours = 16.0, .gpu_hours = 8005});
    EXPECT_NEAR(summary.wasted, 500 * 35 / kHour, 1e-6) << "start-up and serial part";
  }
}

// Rule 2 widens what is left when fewer items than GPUs are ready, which ends no later.
TEST(WorkedExamples, TheLastItemsOfABacklogGetMoreGpusWhereTheirClassMay) {
  const Trace trace = with_items(500, Priority::kNormal);
  const Simulation simulation = simulate(trace, SimulatedPolicy::kOurs);
  const std::vector<Width> all = widths(simulation);
  EXPECT_EQ(std::count(all.begin(), all.end(), kNarrow), 484);
  EXPECT_EQ(std::count(all.begin(), all.end(), kOneNode), 16);
  expect_figures(summary_of(trace, simulation),
                 {.makespan_hours = 128.1, .first_result_hours = 16.0, .gpu_hours = 8008});
}

// The daemon's policy where the site gives each search a node, and every job the same width.
TEST(WorkedExamples, ABacklogWithANodeEachHasItsFirstResultSoonerAndTakesLonger) {
  const Trace trace = with_items(500, Priority::kNormal);
  Trace of_site = trace;
  of_site.config.policy.classes[Priority::kNormal].least = 1;
  const Figures figures{.makespan_hours = 129.6, .first_result_hours = 4.1, .gpu_hours = 8102};
  expect_figures(summary_with(of_site, SimulatedPolicy::kOurs), figures);
  expect_figures(summary_with(trace, SimulatedPolicy::kOneNode), figures);
}

TEST(WorkedExamples, ABacklogWithTheWholePartitionEachWastesATenth) {
  const Trace trace = with_items(500, Priority::kNormal);
  const Summary summary = summary_with(trace, SimulatedPolicy::kWholePartition);
  expect_figures(summary, {.makespan_hours = 139.0, .first_result_hours = 0.3, .gpu_hours = 8898});
  EXPECT_NEAR(summary.utilisation, 1, 1e-9);
}

// Scenario 2.
TEST(WorkedExamples, AFewLowItemsGetAGpuEach) {
  const Trace trace = with_items(3, Priority::kLow);
  const Simulation simulation = simulate(trace, SimulatedPolicy::kOurs);
  EXPECT_THAT(widths(simulation), Each(kNarrow));
  EXPECT_NEAR(rounded(summary_of(trace, simulation).makespan / kHour, 0.1), 16.0, 1e-6);
}

TEST(WorkedExamples, AFewNormalItemsGetANodeEach) {
  const Trace trace = with_items(3, Priority::kNormal);
  const Simulation simulation = simulate(trace, SimulatedPolicy::kOurs);
  EXPECT_THAT(widths(simulation), Each(kOneNode));
  EXPECT_THAT(ends(simulation), Each(14584));
  EXPECT_NEAR(rounded(summary_of(trace, simulation).makespan / kHour, 0.01), 4.05, 1e-6);
}

// Scenario 3, by a job for each: no worker stays warm.
TEST(WorkedExamples, AFewUrgentItemsGetTheWholeClusterInTurn) {
  const Trace trace = with_items(3, Priority::kUrgent);
  const Simulation simulation = simulate(trace, SimulatedPolicy::kOurs);
  EXPECT_THAT(widths(simulation), Each(kWholeCluster));
  EXPECT_THAT(ends(simulation), ElementsAre(1001, 2002, 3003));
}

// One urgent item behind jobs of one GPU. Those of a node end together, after the expected time
// until so many nodes are free; but one job ends when the first of all GPUs is expected to be free.
Trace behind_jobs(double length) {
  Trace trace = example_trace({item_at(0, Priority::kUrgent)});
  for (int node = 1; node <= kExampleNodes; ++node) {
    for (int gpu = 0; gpu < 4; ++gpu) {
      trace.running.push_back(
          {.rest = node == 1 && gpu == 0 ? length / 65 : length * mean_wait(node)});
    }
  }
  return trace;
}

// Widths that an urgent item may be given, and the hours until it is done behind jobs of 16 hours
// and of one.
struct Completion {
  const char* width;
  int nodes;  // as ClassOptions has it: 0 for one GPU
  double behind_long;
  double behind_short;
};
constexpr Completion kCompletions[] = {{"gpu", 0, 16.26, 16.03},    {"node", 1, 11.23, 4.50},
                                       {"2 nodes", 2, 11.04, 2.62}, {"4 nodes", 4, 11.98, 1.72},
                                       {"8 nodes", 8, 13.70, 1.36}, {"16 nodes", 16, 16.03, 1.26}};

double hours_with(Trace trace, int nodes) {
  ClassOptions& urgent = trace.config.policy.classes[Priority::kUrgent];
  urgent.least = urgent.cap = nodes;
  const Simulation simulation = simulate(trace, SimulatedPolicy::kOurs);
  EXPECT_EQ(simulation.items.front().jobs, 1);
  return simulation.items.front().ended / kHour;
}

TEST(WorkedExamples, AnUrgentItemBehindJobsIsDoneAfterTheDocumentedTimeAtEachWidth) {
  for (const Completion& expected : kCompletions) {
    EXPECT_NEAR(rounded(hours_with(behind_jobs(kLong), expected.nodes), 0.01), expected.behind_long,
                1e-6)
        << expected.width;
    EXPECT_NEAR(rounded(hours_with(behind_jobs(kHour), expected.nodes), 0.01),
                expected.behind_short, 1e-6)
        << expected.width;
  }
}

// A trace file in which each GPU runs a job that began at a random time, and the urgent item gets
// this width.
Trace behind_random_jobs(const std::string& length, const std::string& width, int seed) {
  return parse_trace("seed: " + std::to_string(seed) +
                         "\n"
                         "site: {nodes: 16, gpus_per_node: 4}\n"
                         "model: {straggler: {1: 0, 4: .01, 8: .02, 16: .02, 32: .03, 64: .04}}\n"
                         "policy: {classes: {urgent: {least: " +
                         width + ", cap: " + width +
                         "}}}\n"
                         "running: [{count: 64, rest_up_to: " +
                         length +
                         "}]\n"
                         "items: [{class: urgent, work_gpu_hours: 16}]\n",
                     "trace.yaml");
}

void expect_on_average(const std::string& length, const std::string& width, double hours) {
  constexpr int kDraws = 100;
  double sum = 0, squares = 0;
  for (int seed = 1; seed <= kDraws; ++seed) {
    const Trace trace = behind_random_jobs(length, width, seed);
    const double done = simulate(trace, SimulatedPolicy::kOurs).items.front().ended / kHour;
    sum += done;
    squares += done * done;
  }
  const double mean = sum / kDraws;
  const double error = std::sqrt((squares / kDraws - mean * mean) / (kDraws - 1));
  // `hours` has two digits.
  EXPECT_NEAR(mean, hours, 3.5 * error + 0.005) << width << " behind jobs of " << length;
  EXPECT_LT(error, 0.03 * mean) << "so that the mean says something";
}

TEST(WorkedExamples, BehindJobsThatBeganAtRandomTimesItTakesAsLongOnAverage) {
  for (const Completion& expected : kCompletions) {
    expect_on_average("16h", expected.width, expected.behind_long);
    expect_on_average("1h", expected.width, expected.behind_short);
  }
}

// With two nodes it is done first, but only by less than a tenth. Once a second node is free, the
// job is stopped for it.
TEST(WorkedExamples, AnUrgentItemBehindLongJobsGetsANodeAndMoreOnceTwoMoreAreFree) {
  const Trace trace = behind_jobs(kLong);
  const Simulation simulation = simulate(trace, SimulatedPolicy::kOurs);
  ASSERT_EQ(simulation.runs.size(), 2U);
  const SimulatedRun& first = simulation.runs[0];
  EXPECT_EQ(first.gpus, 4);
  const double alone = first.started + run_seconds(trace.model, kLong, kOneNode);
  EXPECT_NEAR(rounded(alone / kHour, 0.01), 11.23, 1e-6);
  EXPECT_EQ(simulation.runs[1].gpus, 8);
  EXPECT_LT(simulation.runs[1].ended, alone);
}

TEST(WorkedExamples, AnUrgentItemBehindJobsOfAnHourGetsHalfTheCluster) {
  const SimulatedItem urgent = simulate(behind_jobs(kHour), SimulatedPolicy::kOurs).items.front();
  EXPECT_EQ(urgent.width, (Width{.nodes = 8, .gpus_per_node = 4}));
  EXPECT_EQ(urgent.jobs, 1);
  EXPECT_NEAR(rounded(urgent.ended / kHour, 0.01), 1.36, 1e-6);
}

}  // namespace
}  // namespace scheduler
