#include "engine/launch/rank_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "engine/error.h"

namespace engine {
namespace {

using Variables = std::map<std::string, std::string>;

RankPlace find(const Variables& variables, const RankFlags& flags = {}) {
  return find_rank(flags, [&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

// What the user is told; empty when nothing is wrong.
std::string refusal(const Variables& variables, const RankFlags& flags = {}) {
  try {
    find(variables, flags);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

Variables with(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

Variables without(Variables variables, const std::string& name) {
  variables.erase(name);
  return variables;
}

// Without each of `names` in turn the refusal names it.
void expect_needed(const Variables& variables, const std::vector<std::string>& names) {
  ASSERT_EQ(refusal(variables), "");
  for (const std::string& name : names) {
    EXPECT_THAT(refusal(without(variables, name)), testing::HasSubstr(name));
  }
}

Variables torchrun() {
  return {{"RANK", "3"},
          {"WORLD_SIZE", "8"},
          {"LOCAL_RANK", "1"},
          {"LOCAL_WORLD_SIZE", "2"},
          {"MASTER_ADDR", "node1"},
          {"MASTER_PORT", "29500"},
          {"TORCHELASTIC_RUN_ID", "none"},
          {"TORCHELASTIC_RESTART_COUNT", "0"},
          {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
}

// As seen in a step of five tasks on two hosts, with --gpus-per-task=1.
Variables slurm() {
  return {{"SLURM_PROCID", "2"},
          {"SLURM_NTASKS", "5"},
          {"SLURM_STEP_NUM_TASKS", "5"},
          {"SLURM_LOCALID", "2"},
          {"SLURM_NODEID", "0"},
          {"SLURM_JOB_ID", "4711"},
          {"SLURM_STEP_ID", "0"},
          {"SLURM_CLUSTER_NAME", "testbed"},
          {"SLURM_STEP_NODELIST", "n[01-02]"},
          {"SLURM_JOB_NODELIST", "n[01-04]"},
          {"SLURM_STEP_TASKS_PER_NODE", "4,1"},
          {"SLURM_LAUNCH_NODE_IPADDR", "10.0.0.99"},
          {"CUDA_VISIBLE_DEVICES", "2"},
          {"SLURM_STEP_GPUS", "2"},
          {"SLURM_GPUS_ON_NODE", "4"}};
}

Variables open_mpi() {
  return {{"OMPI_COMM_WORLD_RANK", "1"},
          {"OMPI_COMM_WORLD_SIZE", "4"},
          {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
          {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
          {"PMIX_NAMESPACE", "prterun-host-123@1"}};
}

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
  EXPECT_THAT(refusal({}, {.rank = -1, .world_size = 4}), testing::HasSubstr("--rank is -1"));
  EXPECT_THAT(refusal({}, {.rank = 0, .world_size = 0}), testing::HasSubstr("--world-size is 0"));
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
    EXPECT_THAT(refusal(with(torchrun(), {{"RANK", value}})), testing::HasSubstr("RANK is "))
        << value;
  }
  EXPECT_THAT(refusal(with(torchrun(), {{"MASTER_PORT", "0"}})),
              testing::HasSubstr("MASTER_PORT is 0"));
  EXPECT_THAT(refusal(with(torchrun(), {{"WORLD_SIZE", "0"}})),
              testing::HasSubstr("WORLD_SIZE is 0"));
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

// Slurm.

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

TEST(Ranks, TheRanksOfAStepMeetOnItsFirstHost) {
  EXPECT_EQ(find(slurm()).rendezvous.host, "n01");
  EXPECT_EQ(find(with(slurm(), {{"SLURM_STEP_NODELIST", "n[03-04]"}})).rendezvous.host, "n03");
  EXPECT_EQ(
      find(with(without(slurm(), "SLURM_STEP_NODELIST"), {{"SLURM_JOB_NODELIST", "gpu[07,9]"}}))
          .rendezvous.host,
      "gpu07");
  EXPECT_THAT(refusal(with(slurm(), {{"SLURM_STEP_NODELIST", "n[01"}})),
              testing::HasSubstr("SLURM_STEP_NODELIST is 'n[01'"));
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

// Open MPI.

TEST(Ranks, OpenMpiSaysWhoAProcessIs) {
  const RankPlace place = find(open_mpi());
  EXPECT_EQ(place.launcher, Launcher::kOpenMpi);
  EXPECT_EQ(place.rank, 1);
  EXPECT_EQ(place.size, 4);
  EXPECT_EQ(place.local_rank, 1);
  EXPECT_EQ(place.local_size, 4);
  EXPECT_EQ(describe_rank(place), "rank 1 of 4 (Open MPI)");
}

TEST(Ranks, OnOneHostOpenMpiNeedsNoRendezvous) {
  const RankPlace place = find(open_mpi());
  EXPECT_EQ(place.rendezvous.host, "127.0.0.1");
  EXPECT_GE(place.rendezvous.port, 10000);
  const RankPlace other = find(with(open_mpi(), {{"PMIX_NAMESPACE", "prterun-host-124@1"}}));
  EXPECT_NE(other.rendezvous.port, place.rendezvous.port);
  EXPECT_NE(other.nonce, place.nonce);
  const RankPlace older = find(
      with(without(open_mpi(), "PMIX_NAMESPACE"), {{"OMPI_MCA_ess_base_jobid", "3482517505"}}));
  EXPECT_GE(older.rendezvous.port, 10000);
  EXPECT_THAT(refusal(without(open_mpi(), "PMIX_NAMESPACE")), testing::HasSubstr("MASTER_PORT"));
}

TEST(Ranks, OnSeveralHostsOpenMpiNeedsARendezvous) {
  const Variables wide = with(open_mpi(), {{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  EXPECT_THAT(refusal(wide), testing::AllOf(testing::HasSubstr("MASTER_ADDR"),
                                            testing::HasSubstr("--rendezvous file:PATH")));
  EXPECT_EQ(find(wide, {.rendezvous = "file:/scratch/a"}).rendezvous.file, "/scratch/a");
  EXPECT_EQ(find(with(wide, {{"MASTER_ADDR", "n1"}})).rendezvous.host, "n1");
}

TEST(Ranks, WhatOpenMpiLeavesOutIsNamed) {
  expect_needed(open_mpi(), {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                             "OMPI_COMM_WORLD_LOCAL_SIZE"});
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

// Devices.

TEST(DeviceOfRank, OfSeveralDevicesARankTakesTheOneOfItsLocalRank) {
  const RankPlace place =
      find(with(slurm(), {{"CUDA_VISIBLE_DEVICES", "0,1,2,3"}, {"SLURM_STEP_GPUS", "0,1,2,3"}}));
  EXPECT_EQ(device_of_rank(place, 4), 2);
  EXPECT_EQ(device_of_rank(find({}), 4), 0);
}

TEST(DeviceOfRank, ADeviceThatSlurmBoundToTheTaskIsTaken) {
  EXPECT_EQ(device_of_rank(find(slurm()), 1), 0);
  EXPECT_EQ(device_of_rank(find(without(slurm(), "CUDA_VISIBLE_DEVICES")), 1), 0);
}

TEST(DeviceOfRank, ABindingThatHidesNothingLeavesTheLocalRank) {
  EXPECT_EQ(device_of_rank(find(slurm()), 4), 2);
}

TEST(DeviceOfRank, TasksThatWouldShareTheHostsOnlyDeviceAreRefused) {
  const RankPlace place =
      find(with(slurm(), {{"CUDA_VISIBLE_DEVICES", "0"}, {"SLURM_GPUS_ON_NODE", "1"}}));
  EXPECT_THROW(device_of_rank(place, 1), UsageError);
}

TEST(DeviceOfRank, ADeviceBoundByHandIsTaken) {
  const Variables one = {{"CUDA_VISIBLE_DEVICES", "GPU-8932f937-d72c"}};
  EXPECT_EQ(device_of_rank(find(with(open_mpi(), one)), 1), 0);
  EXPECT_EQ(device_of_rank(find(one, {.rank = 1, .world_size = 2, .rendezvous = "n1:4000"}), 1), 0);
  EXPECT_EQ(device_of_rank(find(with(without(torchrun(), "TORCHELASTIC_RUN_ID"), one)), 1), 0);
}

TEST(DeviceOfRank, OneEnvironmentForAllIsNoBinding) {
  const Variables one = {{"CUDA_VISIBLE_DEVICES", "0"}};
  EXPECT_THROW(device_of_rank(find(with(torchrun(), one)), 1), UsageError);
  EXPECT_THROW(
      device_of_rank(
          find(one, {.rank = 1, .world_size = 2, .local_rank = 1, .rendezvous = "n1:4000"}), 1),
      UsageError);
}

TEST(DeviceOfRank, FewerDevicesThanRanksAreRefused) {
  try {
    device_of_rank(find(open_mpi()), 1);
    FAIL() << "taken";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("rank 1 of 4"), testing::HasSubstr("1 device:")));
  }
  EXPECT_THROW(device_of_rank(find({}), 0), UsageError);
}

}  // namespace
}  // namespace engine
