#include "engine/launch/slurm_allocation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "engine/error.h"

namespace engine {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using Variables = std::map<std::string, std::string>;

std::optional<Allocation> allocation_of(const Variables& variables) {
  return find_allocation([&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

Variables with(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

// The message for the user; empty when nothing is wrong.
template <typename What>
std::string allocation_refusal(const What& what) {
  try {
    what();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

const Variables kTwoNodes = {{"SLURM_JOB_ID", "7"},
                             {"SLURM_JOB_NUM_NODES", "2"},
                             {"SLURM_JOB_CPUS_PER_NODE", "16(x2)"},
                             {"SLURM_TASKS_PER_NODE", "4(x2)"}};

constexpr Allocation kNodesOfTwo = {.nodes = 3, .cores = 9, .tasks = 2, .gpus = 4};

TEST(FindAllocation, OutsideOfAJobAndOnOneNodeThereIsNone) {
  EXPECT_FALSE(allocation_of({}).has_value());
  EXPECT_FALSE(allocation_of({{"SLURM_JOB_NUM_NODES", "2"}}).has_value());
  EXPECT_FALSE(allocation_of(with(kTwoNodes, {{"SLURM_JOB_NUM_NODES", "1"}})).has_value());
}

TEST(FindAllocation, ANodeHasWhatTheJobsVariablesSay) {
  const std::optional<Allocation> found = allocation_of(kTwoNodes);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->nodes, 2);
  EXPECT_EQ(found->cores, 16);
  EXPECT_EQ(found->tasks, 4);
  EXPECT_EQ(found->gpus, 0);
}

TEST(FindAllocation, OfUnlikeNodesThePoorestCounts) {
  const Variables unlike = {{"SLURM_JOB_CPUS_PER_NODE", "16,8"}, {"SLURM_TASKS_PER_NODE", "3,4"}};
  EXPECT_EQ(allocation_of(with(kTwoNodes, unlike))->cores, 8);
  EXPECT_EQ(allocation_of(with(kTwoNodes, unlike))->tasks, 3);
}

TEST(FindAllocation, AStepsOwnTasksAreNotTheJobs) {
  const Variables step = with(kTwoNodes, {{"SLURM_TASKS_PER_NODE", "1"}});
  EXPECT_EQ(allocation_of(step)->tasks, 16);
  EXPECT_EQ(allocation_of(with(step, {{"SLURM_CPUS_PER_TASK", "3"}}))->tasks, 5);
  EXPECT_EQ(allocation_of(with(step, {{"SLURM_NTASKS_PER_NODE", "2"}}))->tasks, 2);
}

TEST(FindAllocation, GpusAreCountedHoweverTheyWereAskedFor) {
  const auto gpus = [](const Variables& more) {
    return allocation_of(with(kTwoNodes, more))->gpus;
  };
  EXPECT_EQ(gpus({{"SLURM_GPUS_PER_NODE", "4"}}), 4);
  EXPECT_EQ(gpus({{"SLURM_GPUS_PER_NODE", "a100:2,h200:1"}}), 3);
  EXPECT_EQ(gpus({{"SLURM_JOB_GPUS", "0,1,3"}}), 3);
  EXPECT_EQ(gpus({{"SLURM_GPUS_ON_NODE", "2"}}), 2);
  EXPECT_EQ(gpus({{"SLURM_GPUS", "8"}}), 4);
  // Of a step that has one.
  EXPECT_EQ(gpus({{"SLURM_GPUS_ON_NODE", "1"}, {"SLURM_JOB_GPUS", "0,1"}}), 2);
}

TEST(FindAllocation, WhatIsNoNumberIsNamed) {
  const auto message_for = [](const Variables& more) {
    return allocation_refusal([&] { allocation_of(with(kTwoNodes, more)); });
  };
  for (const char* name : {"SLURM_JOB_NUM_NODES", "SLURM_JOB_CPUS_PER_NODE",
                           "SLURM_NTASKS_PER_NODE", "SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE"}) {
    EXPECT_THAT(message_for({{name, "many"}}), AllOf(HasSubstr(name), HasSubstr("'many'")));
  }
  EXPECT_THAT(message_for({{"SLURM_GPUS_PER_NODE", "a100:2,h200:x"}}),
              AllOf(HasSubstr("SLURM_GPUS_PER_NODE: expected a number of GPUs"),
                    HasSubstr("got 'a100:2,h200:x'")));
  EXPECT_THAT(message_for({{"SLURM_JOB_NUM_NODES", "-1"}}),
              HasSubstr("SLURM_JOB_NUM_NODES: expected a whole number from 0"));
  EXPECT_THAT(message_for({{"SLURM_JOB_CPUS_PER_NODE", ""}}),
              HasSubstr("SLURM_JOB_CPUS_PER_NODE is not set"));
}

TEST(SpreadOver, EveryTaskOrGpuHasARankAndRanksShareTheCores) {
  const Spread tasks = spread_over(kNodesOfTwo, false, 0, 0);
  EXPECT_EQ(tasks.most, 6);
  EXPECT_EQ(tasks.per_node, 2);
  EXPECT_EQ(tasks.threads, 4);
  const Spread gpus = spread_over(kNodesOfTwo, true, 0, 0);
  EXPECT_EQ(gpus.most, 12);
  EXPECT_EQ(gpus.per_node, 4);
  EXPECT_EQ(gpus.threads, 2);
  EXPECT_EQ(spread_over(kNodesOfTwo, false, 1, 0).threads, 9);
  EXPECT_EQ(spread_over(kNodesOfTwo, false, 6, 3).threads, 3);
}

TEST(SpreadOver, NodesAreFilledOneAfterTheOther) {
  const Spread spread = spread_over(kNodesOfTwo, false, 5, 0);
  std::vector<int> nodes;
  for (int ranks = 1; ranks <= 5; ++ranks) nodes.push_back(nodes_of(spread, ranks));
  EXPECT_EQ(nodes, (std::vector<int>{1, 1, 2, 2, 3}));
}

TEST(SpreadOver, MoreThanTheAllocationHoldsIsRefusedWithWhatToAskFor) {
  const auto message_for = [](const Allocation& allocation, bool on_devices, int nproc,
                              int threads) {
    return allocation_refusal([&] { spread_over(allocation, on_devices, nproc, threads); });
  };
  EXPECT_THAT(message_for(kNodesOfTwo, false, 7, 0),
              AllOf(HasSubstr("holds 6 ranks"), HasSubstr("--ntasks-per-node")));
  EXPECT_THAT(message_for(kNodesOfTwo, true, 13, 0),
              AllOf(HasSubstr("holds 12 ranks"), HasSubstr("--gpus-per-node")));
  EXPECT_THAT(message_for(kNodesOfTwo, false, 0, 5), HasSubstr("2 ranks x 5 threads"));
  EXPECT_THAT(message_for({.nodes = 2, .cores = 1, .tasks = 1}, true, 0, 0),
              HasSubstr("--gpus-per-node"));
}

TEST(StepCommand, OneTaskForEachRankOnAsFewNodesAsHoldThem) {
  const Spread spread = {.most = 4, .per_node = 2, .threads = 3};
  const auto words = step_command(spread, false, 3, {"engine", "match"});
  for (const char* word : {"--nodes=2", "--ntasks=3", "--distribution=plane=2", "--relative=0",
                           "--cpus-per-task=3", "--mem=0", "SLURM_OVERLAP=1"}) {
    EXPECT_THAT(words, Contains(word));
  }
  EXPECT_THAT(words, Not(Contains("--gpus-per-task=1")));
  EXPECT_EQ(words.front(), "env");
  EXPECT_EQ(words.at(words.size() - 2), "engine");
  EXPECT_EQ(words.back(), "match");
}

TEST(StepCommand, EachRankHasItsOwnGpuWhateverTheJobAskedFor) {
  const auto words = step_command({.most = 4, .per_node = 2, .threads = 1}, true, 1, {"engine"});
  EXPECT_THAT(words, AllOf(Contains("--gpus-per-task=1"), Contains("--nodes=1"),
                           Contains("--unset=SLURM_GPUS_PER_NODE"),
                           Contains("--unset=SLURM_NTASKS_PER_NODE")));
}

}  // namespace
}  // namespace engine
