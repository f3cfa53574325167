// Ranks by flags, under torchrun, alone, and where several launchers speak.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "tests/unit/engine/launch/rank_cases.h"

namespace engine {
namespace {

// Alone.

TEST(Ranks, WhereNoLauncherSpeaksAProcessIsAlone) {
  const RankPlace place = find({});
  EXPECT_EQ(place.launcher, Launcher::kAlone);
  EXPECT_TRUE(place.first());
  EXPECT_EQ(place.size, 1);
  EXPECT_EQ(describe_rank(place), "rank 0 of 1 (alone)");
}

TEST(Ranks, AWorldWithoutARankIsRefused) {
  EXPECT_THAT(refusal({{"WORLD_SIZE", "4"}}), testing::HasSubstr("RANK is not set"));
  EXPECT_EQ(refusal({{"WORLD_SIZE", "1"}}), "");
}

TEST(Ranks, AFlagWithoutTheOthersThatItNeedsIsRefused) {
  EXPECT_THAT(refusal({}, {.rank = 1}), testing::HasSubstr("--world-size"));
  EXPECT_THAT(refusal({}, {.world_size = 2}), testing::HasSubstr("--rank"));
  EXPECT_THAT(refusal({}, {.local_rank = 0}), testing::HasSubstr("--rank"));
  EXPECT_THAT(refusal({}, {.rendezvous = "file:/x"}), testing::HasSubstr("--rank"));
}

// Flags.

TEST(Ranks, FlagsGoBeforeEveryVariable) {
  const RankPlace place =
      find(with(torchrun(), slurm()),
           {.rank = 6, .world_size = 7, .local_rank = 2, .rendezvous = "n9:4000", .run_id = "r"});
  EXPECT_EQ(place.launcher, Launcher::kFlags);
  EXPECT_EQ(place.rank, 6);
  EXPECT_EQ(place.size, 7);
  EXPECT_EQ(place.local_rank, 2);
  EXPECT_EQ(place.local_size, 0);
  EXPECT_EQ(place.rendezvous.host, "n9");
  EXPECT_EQ(place.rendezvous.port, 4000);
  EXPECT_EQ(place.rendezvous.ports, 1);
  EXPECT_EQ(place.nonce, "r");
  EXPECT_EQ(describe_rank(place), "rank 6 of 7 (flags)");
}

TEST(Ranks, ByFlagsTheRanksAreTakenToBeOnOneHost) {
  EXPECT_EQ(find({}, {.rank = 3, .world_size = 4, .rendezvous = "n1:4000"}).local_rank, 3);
}

TEST(Ranks, ByFlagsTheRanksMeetWhereAFlagOrTheVariablesSay) {
  const RankFlags flags = {.rank = 0, .world_size = 2};
  EXPECT_THAT(refusal({}, flags), testing::HasSubstr("MASTER_ADDR"));
  EXPECT_THAT(refusal({{"MASTER_ADDR", "n1"}}, flags), testing::HasSubstr("MASTER_PORT"));
  const RankPlace place = find({{"MASTER_ADDR", "n1"}, {"MASTER_PORT", "4000"}}, flags);
  EXPECT_EQ(place.rendezvous.host, "n1");
  EXPECT_EQ(place.rendezvous.port, 4000);
  EXPECT_EQ(place.nonce, "n1:4000");
}

TEST(Ranks, WithoutARunIdWhereTheyMeetTellsRunsByFlagsApart) {
  const auto nonce = [](const std::string& rendezvous) {
    return find({}, {.rank = 0, .world_size = 2, .rendezvous = rendezvous}).nonce;
  };
  EXPECT_EQ(nonce("n1:4000"), nonce("n1:4000"));
  EXPECT_NE(nonce("n1:4000"), nonce("n1:4001"));
}

// An earlier run may have left its file there, and its rank 0 may still wait.
TEST(Ranks, ByFlagsTheFileOfARunNeedsARunId) {
  EXPECT_THAT(refusal({}, {.rank = 1, .world_size = 2, .rendezvous = "file:/scratch/a"}),
              testing::HasSubstr("--run-id"));
  EXPECT_EQ(find({}, {.rank = 0, .world_size = 1, .rendezvous = "file:/scratch/a"}).size, 1);
  EXPECT_EQ(find(slurm(), {.rendezvous = "file:/scratch/a"}).rendezvous.file, "/scratch/a");
}

TEST(Ranks, FlagsThatContradictEachOtherAreRefused) {
  EXPECT_THAT(
      refusal({}, {.rank = 4, .world_size = 4}),
      testing::AllOf(testing::HasSubstr("--rank is 4"), testing::HasSubstr("--world-size is 4")));
  EXPECT_EQ(refusal({}, {.rank = -1, .world_size = 4}),
            "--rank: expected a whole number from 0 to 2147483647, got '-1'");
  EXPECT_EQ(refusal({}, {.rank = 0, .world_size = 0}),
            "--world-size: expected a whole number from 1 to 2147483647, got '0'");
  EXPECT_THAT(refusal({}, {.rank = 0, .world_size = 2, .local_rank = 2, .rendezvous = "n1:4000"}),
              testing::HasSubstr("--local-rank is 2"));
}

TEST(Ranks, ARendezvousIsAHostAndPortOrAFile) {
  const auto rendezvous = [](const std::string& text) {
    return find({}, {.rank = 0, .world_size = 2, .rendezvous = text, .run_id = "r"}).rendezvous;
  };
  EXPECT_EQ(rendezvous("file:/scratch/a b:c").file, "/scratch/a b:c");
  EXPECT_EQ(rendezvous("file:/scratch/a").host, "");
  EXPECT_EQ(rendezvous("[fd00::1]:4000").host, "fd00::1");
  EXPECT_EQ(rendezvous("[fd00::1]:4000").port, 4000);
  for (const char* text :
       {"n1", ":4000", "n1:", "n1:0", "n1:70000", "n1:40x", "fd00::1:4000", "file:", "[]:4000"}) {
    EXPECT_THAT(refusal({}, {.rank = 0, .world_size = 2, .rendezvous = text, .run_id = "r"}),
                testing::HasSubstr("--rendezvous"))
        << text;
  }
}

// Torchrun.

TEST(Ranks, TorchrunSaysWhoAProcessIs) {
  const RankPlace place = find(torchrun());
  EXPECT_EQ(place.launcher, Launcher::kTorchrun);
  EXPECT_EQ(place.rank, 3);
  EXPECT_EQ(place.size, 8);
  EXPECT_EQ(place.local_rank, 1);
  EXPECT_EQ(place.local_size, 2);
  EXPECT_FALSE(place.first());
  EXPECT_EQ(describe_rank(place), "rank 3 of 8 (torchrun)");
}

TEST(Ranks, ThePortOfTorchrunsStoreIsLeftToIt) {
  EXPECT_EQ(find(torchrun()).rendezvous.host, "node1");
  EXPECT_EQ(find(torchrun()).rendezvous.port, 29501);
  EXPECT_GT(find(torchrun()).rendezvous.ports, 1);
  EXPECT_EQ(find(without(torchrun(), "TORCHELASTIC_USE_AGENT_STORE")).rendezvous.port, 29500);
  EXPECT_EQ(find(with(torchrun(), {{"TORCHELASTIC_USE_AGENT_STORE", "False"}})).rendezvous.port,
            29500);
}

TEST(Ranks, NoPortAboveTheLastIsTried) {
  for (const char* port : {"65533", "65534"}) {
    const Rendezvous rendezvous = find(with(torchrun(), {{"MASTER_PORT", port}})).rendezvous;
    EXPECT_EQ(rendezvous.port + rendezvous.ports - 1, 65535);
  }
}

TEST(Ranks, WhatTorchrunLeavesOutIsNamed) {
  expect_needed(torchrun(), {"WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"});
  EXPECT_THAT(refusal(with(torchrun(), {{"MASTER_ADDR", ""}})), testing::HasSubstr("MASTER_ADDR"));
}

TEST(Ranks, ARendezvousByFlagStandsInForTheMaster) {
  Variables variables = without(without(torchrun(), "MASTER_ADDR"), "MASTER_PORT");
  const RankPlace place = find(variables, {.rendezvous = "file:/scratch/a"});
  EXPECT_EQ(place.launcher, Launcher::kTorchrun);
  EXPECT_EQ(place.rendezvous.file, "/scratch/a");
}

TEST(Ranks, VariablesThatContradictEachOtherAreNamed) {
  EXPECT_THAT(
      refusal(with(torchrun(), {{"RANK", "8"}})),
      testing::AllOf(testing::HasSubstr("RANK is 8"), testing::HasSubstr("WORLD_SIZE is 8")));
  EXPECT_THAT(refusal(with(torchrun(), {{"LOCAL_RANK", "2"}})),
              testing::AllOf(testing::HasSubstr("LOCAL_RANK is 2"),
                             testing::HasSubstr("LOCAL_WORLD_SIZE is 2")));
  EXPECT_THAT(refusal(with(torchrun(), {{"LOCAL_WORLD_SIZE", "9"}})),
              testing::AllOf(testing::HasSubstr("LOCAL_WORLD_SIZE is 9"),
                             testing::HasSubstr("WORLD_SIZE is 8")));
  EXPECT_THAT(refusal(with(slurm(), {{"SLURM_PROCID", "5"}})),
              testing::AllOf(testing::HasSubstr("SLURM_PROCID is 5"),
                             testing::HasSubstr("SLURM_STEP_NUM_TASKS is 5")));
  EXPECT_THAT(refusal(with(slurm(), {{"SLURM_LOCALID", "4"}})),
              testing::AllOf(testing::HasSubstr("SLURM_LOCALID is 4"),
                             testing::HasSubstr("SLURM_STEP_TASKS_PER_NODE is 4")));
  EXPECT_THAT(refusal(with(open_mpi(), {{"OMPI_COMM_WORLD_LOCAL_SIZE", "5"}})),
              testing::HasSubstr("OMPI_COMM_WORLD_SIZE is 4"));
}

TEST(Ranks, AVariableThatIsNoNumberOrOutOfRangeIsNamed) {
  for (const char* value : {"three", "3x", "1.5", " 3", "99999999999", "-1"}) {
    EXPECT_EQ(
        refusal(with(torchrun(), {{"RANK", value}})),
        std::string("RANK: expected a whole number from 0 to 2147483647, got '") + value + "'");
  }
  EXPECT_THAT(refusal(with(torchrun(), {{"MASTER_PORT", "0"}})),
              testing::HasSubstr("MASTER_PORT: expected a whole number from 1 to 65534, got '0'"));
  EXPECT_THAT(refusal(with(torchrun(), {{"WORLD_SIZE", "0"}})),
              testing::HasSubstr("WORLD_SIZE: expected a whole number from 1 to "));
}

TEST(Ranks, ARestartByTorchrunDoesNotMeetTheTryBefore) {
  std::set<std::string> nonces = {find(torchrun()).nonce};
  for (const char* name :
       {"TORCHELASTIC_RESTART_COUNT", "TORCHELASTIC_RUN_ID", "MASTER_PORT", "MASTER_ADDR"}) {
    nonces.insert(find(with(torchrun(), {{name, "7"}})).nonce);
  }
  EXPECT_EQ(nonces.size(), 5u);
  EXPECT_EQ(find(with(torchrun(), {{"RANK", "0"}, {"LOCAL_RANK", "0"}})).nonce,
            find(torchrun()).nonce);
}

// Several at once.

TEST(Ranks, TorchrunGoesBeforeSlurmAndSlurmBeforeOpenMpi) {
  EXPECT_EQ(find(with(with(torchrun(), slurm()), open_mpi())).launcher, Launcher::kTorchrun);
  const Variables same = {{"OMPI_COMM_WORLD_RANK", "2"},
                          {"OMPI_COMM_WORLD_SIZE", "5"},
                          {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
                          {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}};
  EXPECT_EQ(find(with(slurm(), same)).launcher, Launcher::kSlurm);
}

// Both ranks on the first of two hosts, each of which has a daemon: rank 0 is in the step's task 0
// of 2.
TEST(Ranks, TheStepOfOpenMpisDaemonsIsNotTheRanksThoughOneOfThemHasItsNumber) {
  const Variables step = with(slurm(), {{"SLURM_PROCID", "0"},
                                        {"SLURM_NTASKS", "2"},
                                        {"SLURM_STEP_NUM_TASKS", "2"},
                                        {"SLURM_LOCALID", "0"},
                                        {"SLURM_NTASKS_PER_NODE", "1"},
                                        {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"},
                                        {"SLURM_TASKS_PER_NODE", "1(x2)"}});
  for (const char* rank : {"0", "1"}) {
    const RankPlace place = find(with(step, {{"OMPI_COMM_WORLD_RANK", rank},
                                             {"OMPI_COMM_WORLD_SIZE", "2"},
                                             {"OMPI_COMM_WORLD_LOCAL_RANK", rank},
                                             {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                             {"PMIX_NAMESPACE", "one"}}));
    EXPECT_EQ(place.launcher, Launcher::kOpenMpi) << rank;
  }
}

TEST(Ranks, TheStepOfOpenMpisDaemonsIsNotTheRanks) {
  const RankPlace place = find(with(slurm(), open_mpi()));
  EXPECT_EQ(place.launcher, Launcher::kOpenMpi);
  EXPECT_EQ(place.size, 4);
}

TEST(Ranks, AloneUnderAnyLauncherNothingElseIsNeeded) {
  EXPECT_EQ(refusal({}, {.rank = 0, .world_size = 1}), "");
  EXPECT_EQ(refusal({{"RANK", "0"}, {"WORLD_SIZE", "1"}}), "");
  EXPECT_EQ(refusal({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_LOCALID", "0"}}),
            "");
  EXPECT_EQ(refusal({{"OMPI_COMM_WORLD_RANK", "0"},
                     {"OMPI_COMM_WORLD_SIZE", "1"},
                     {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                     {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}}),
            "");
}

TEST(Ranks, ARunIdGoesBeforeWhatTheLauncherSays) {
  for (const Variables& variables : {torchrun(), slurm(), open_mpi()}) {
    EXPECT_EQ(find(variables, {.run_id = "mine"}).nonce, "mine");
    EXPECT_NE(find(variables).nonce, "");
  }
}

TEST(Ranks, TheVariablesOfThisProcessAreRead) {
  ASSERT_EQ(::setenv("MARGAY_TEST_RANK", "7", 1), 0);
  EXPECT_EQ(process_environment()("MARGAY_TEST_RANK"), "7");
  EXPECT_EQ(process_environment()("MARGAY_TEST_NO_SUCH"), std::nullopt);
}

}  // namespace
}  // namespace engine
