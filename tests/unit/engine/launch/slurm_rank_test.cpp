// Ranks that srun started.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "tests/unit/engine/launch/rank_cases.h"

namespace engine {
namespace {

TEST(Ranks, AStepOfSlurmSaysWhoAProcessIs) {
  const RankPlace place = find(slurm());
  EXPECT_EQ(place.launcher, Launcher::kSlurm);
  EXPECT_EQ(place.rank, 2);
  EXPECT_EQ(place.size, 5);
  EXPECT_EQ(place.local_rank, 2);
  EXPECT_EQ(place.local_size, 4);
  EXPECT_EQ(describe_rank(place), "rank 2 of 5 (Slurm)");
  const RankPlace last =
      find(with(slurm(), {{"SLURM_PROCID", "4"}, {"SLURM_LOCALID", "0"}, {"SLURM_NODEID", "1"}}));
  EXPECT_EQ(last.local_size, 1);
}

TEST(Ranks, ABatchScriptWithoutAStepIsAloneWhateverItsTasks) {
  const RankPlace place = find({{"SLURM_PROCID", "0"},
                                {"SLURM_NTASKS", "4"},
                                {"SLURM_LOCALID", "0"},
                                {"SLURM_JOB_ID", "9"},
                                {"SLURM_TASKS_PER_NODE", "3,1"}});
  EXPECT_EQ(place.launcher, Launcher::kAlone);
  EXPECT_EQ(place.size, 1);
}

TEST(Ranks, AStepsOwnNumberOfTasksCounts) {
  EXPECT_EQ(find(with(slurm(), {{"SLURM_NTASKS", "8"}})).size, 5);
}

TEST(Ranks, AnotherWorldSizeThanTheStepHasIsNamedWithTheOneThatCounts) {
  const RankPlace place = find(with(slurm(), {{"WORLD_SIZE", "7"}}));
  EXPECT_EQ(place.size, 5);
  EXPECT_THAT(place.note,
              testing::AllOf(testing::HasSubstr("WORLD_SIZE is 7"),
                             testing::HasSubstr("SLURM_STEP_NUM_TASKS is 5: 5 counts")));
  EXPECT_EQ(find(with(slurm(), {{"WORLD_SIZE", "5"}})).note, "");
  EXPECT_EQ(find(slurm()).note, "");
  EXPECT_EQ(find(torchrun()).note, "");
  RankFlags flags;
  flags.rank = 0;
  flags.world_size = 2;
  flags.rendezvous = "n01:29500";
  EXPECT_THAT(find({{"WORLD_SIZE", "4"}}, flags).note, testing::HasSubstr("--world-size is 2"));
}

TEST(Ranks, TheRanksOfAStepMeetOnItsFirstHost) {
  EXPECT_EQ(find(slurm()).rendezvous.host, "n01");
  EXPECT_EQ(find(with(slurm(), {{"SLURM_STEP_NODELIST", "n[03-04]"}})).rendezvous.host, "n03");
  EXPECT_EQ(
      find(with(without(slurm(), "SLURM_STEP_NODELIST"), {{"SLURM_JOB_NODELIST", "gpu[07,9]"}}))
          .rendezvous.host,
      "gpu07");
  EXPECT_THAT(
      refusal(with(slurm(), {{"SLURM_STEP_NODELIST", "n[01"}})),
      testing::AllOf(testing::HasSubstr("SLURM_STEP_NODELIST: expected Slurm's list of hosts"),
                     testing::HasSubstr("got 'n[01'")));
}

TEST(Ranks, AStepOnOneHostNeedsNoNameOfIt) {
  EXPECT_EQ(find(with(slurm(), {{"SLURM_STEP_NODELIST", "n01"}})).rendezvous.host, "127.0.0.1");
}

TEST(Ranks, TheMasterOfTheVariablesGoesBeforeWhatSlurmSays) {
  const Rendezvous rendezvous =
      find(with(slurm(), {{"MASTER_ADDR", "10.0.0.1"}, {"MASTER_PORT", "4000"}})).rendezvous;
  EXPECT_EQ(rendezvous.host, "10.0.0.1");
  EXPECT_EQ(rendezvous.port, 4000);
}

TEST(Ranks, JobsAndStepsSideBySideHavePortsOfTheirOwn) {
  std::set<int> firsts;
  for (const char* job : {"4711", "4712", "4713"}) {
    for (const char* step : {"0", "1", "2"}) {
      const Rendezvous rendezvous =
          find(with(slurm(), {{"SLURM_JOB_ID", job}, {"SLURM_STEP_ID", step}})).rendezvous;
      EXPECT_GE(rendezvous.port, 10000);
      EXPECT_LE(rendezvous.port + rendezvous.ports, 32768);  // where the system's own begin
      EXPECT_EQ(rendezvous.port % rendezvous.ports, 0);      // no two overlap
      firsts.insert(rendezvous.port);
    }
  }
  EXPECT_EQ(firsts.size(), 9u);
}

TEST(Ranks, ARequeuedJobDoesNotMeetTheTryBefore) {
  std::set<std::string> nonces = {find(slurm()).nonce};
  for (const char* name :
       {"SLURM_RESTART_COUNT", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_CLUSTER_NAME"}) {
    nonces.insert(find(with(slurm(), {{name, "7"}})).nonce);
  }
  EXPECT_EQ(nonces.size(), 5u);
}

TEST(Ranks, WhatAStepLeavesOutIsNamed) {
  expect_needed(slurm(), {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_JOB_ID", "SLURM_STEP_ID"});
  EXPECT_THAT(refusal(without(without(slurm(), "SLURM_STEP_NODELIST"), "SLURM_JOB_NODELIST")),
              testing::HasSubstr("MASTER_ADDR"));
}

TEST(Ranks, WhatIsNotNeededMayBeMissing) {
  const RankPlace place = find(without(slurm(), "SLURM_STEP_TASKS_PER_NODE"));
  EXPECT_EQ(place.local_size, 0);
}

}  // namespace
}  // namespace engine
