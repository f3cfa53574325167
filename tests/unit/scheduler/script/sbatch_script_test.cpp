// What the scripts of every shape do, and those on one device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/scheduler/script/sbatch_script_fixture.h"

namespace scheduler {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class EachSbatchScriptTest : public SbatchScriptTest,
                             public testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(Shapes, EachSbatchScriptTest,
                         testing::Values("cpu", "gpu", "node", "nodes"),
                         [](const auto& shape) { return std::string(shape.param); });

TEST_P(EachSbatchScriptTest, BashFindsNoFaultInIt) {
  const std::string script = folder_.write("job.sh", rendered(GetParam()));
  EXPECT_EQ(std::system(("bash -n '" + script + "'").c_str()), 0);
  EXPECT_THAT(rendered(GetParam()), AllOf(Not(HasSubstr("{{")), Not(HasSubstr("\n#MARGAY"))));
}

TEST_P(EachSbatchScriptTest, TheDeviceIsProbedBeforeTheSearch) {
  EXPECT_EQ(run(GetParam()), 0);
  EXPECT_THAT(calls(), StartsWith("selftest --backend "));
  EXPECT_THAT(calls(), HasSubstr("match " + attempt_ + "/config.yaml --backend "));
  EXPECT_THAT(calls(), HasSubstr("--attempt margay-x-7-a1"));
}

TEST_P(EachSbatchScriptTest, TheEnginesExitCodeIsTheScripts) {
  for (const int code : {0, 1, 2, 64, 70, 71, 75, 85, 137, 139}) {
    engine("exit 0", "exit " + std::to_string(code));
    EXPECT_EQ(run(GetParam()), code);
  }
  engine("exit 0", "kill -SEGV $$");
  EXPECT_EQ(run(GetParam()), 139);
}

TEST_P(EachSbatchScriptTest, ADeviceThatFailsItsProbeIsSparedTheSearch) {
  // By what the probe ends with: the device's fault, a request to stop, a fault of the site's.
  const std::map<int, int> codes = {{70, 70},   {71, 70},   {124, 70}, {137, 70},
                                    {139, 70},  {138, 85},  {143, 85}, {2, 2},
                                    {126, 126}, {127, 127}, {1, 126},  {64, 126}};
  for (const auto& [probe, code] : codes) {
    engine("exit " + std::to_string(probe), "exit 0");
    EXPECT_EQ(run(GetParam()), code) << probe;
    EXPECT_THAT(calls(), Not(HasSubstr("match"))) << probe;
  }
}

TEST_F(SbatchScriptTest, TheEngineIsAStepWithTheJobsProcessors) {
  EXPECT_EQ(run("cpu"), 0);
  EXPECT_THAT(steps(),
              AllOf(StartsWith("--nodes=1 --ntasks=1 --cpus-per-task=6 " + config_.job + " rank "),
                    HasSubstr(" timeout ")));
  EXPECT_THAT(calls(), AllOf(HasSubstr("--backend cpu --threads 6"), Not(HasSubstr("auto"))));
  environment_["SLURM_CPUS_PER_TASK"] = "3";
  EXPECT_EQ(run("gpu"), 0);
  EXPECT_THAT(steps(),
              StartsWith("--nodes=1 --ntasks=1 --cpus-per-task=3 " + config_.job + " rank "));
  EXPECT_THAT(calls(), HasSubstr("--backend cuda --threads 3"));
}

TEST_F(SbatchScriptTest, OnlyOneRunTakesTheClaim) {
  EXPECT_EQ(run(), 0);
  const std::string once = calls();
  EXPECT_EQ(wait_for(start()), 75);
  environment_["SLURM_JOB_ID"] = "78";
  environment_["SLURM_RESTART_COUNT"] = "3";
  EXPECT_EQ(wait_for(start()), 75);
  EXPECT_EQ(calls(), once) << "the losers must not start the engine";
}

TEST_F(SbatchScriptTest, TheSameJobStartedAgainTakesItsOwnClaimOver) {
  EXPECT_EQ(run(), 0);
  environment_["SLURM_RESTART_COUNT"] = "1";
  std::ofstream(attempt_ + "/checkpoint.mgc") << "units";
  EXPECT_EQ(wait_for(start()), 0);
  EXPECT_THAT(calls(), HasSubstr("--resume " + attempt_ + "/checkpoint.mgc"));
  EXPECT_EQ(wait_for(start()), 75) << "the same start of the same job, twice";
}

TEST_F(SbatchScriptTest, AJobThatIsStartedAgainAfterItsEndDoesNothing) {
  EXPECT_EQ(run(), 0);
  std::ofstream(attempt_ + "/manifest.json") << "{}";
  const std::string once = calls();
  environment_["SLURM_RESTART_COUNT"] = "1";
  EXPECT_EQ(wait_for(start()), 0);
  EXPECT_EQ(calls(), once);
}

TEST_F(SbatchScriptTest, AnOlderAttemptDoesNotStartOnceANewerOneHasBegun) {
  current(2);
  EXPECT_EQ(run(), 75);
  EXPECT_EQ(calls(), "");
}

TEST_F(SbatchScriptTest, AnOlderAttemptStopsWhenANewerOneBegins) {
  engine("exit 0", "trap 'exit 85' USR1\ntouch \"$SCRATCH/ready\"\nwhile :; do sleep 0.05; done");
  const pid_t script = start();
  wait_for_file(folder_.file("ready"));
  current(2);
  EXPECT_EQ(wait_for(script), 85);
}

TEST_P(EachSbatchScriptTest, ASignalReachesTheEngineAsARequestAndItsCheckpointIsWaitedFor) {
  for (const int number : {SIGTERM, SIGUSR1}) {
    std::filesystem::remove_all(attempt_ + "/claim");
    std::filesystem::remove(folder_.file("ready"));
    engine("exit 0",
           "trap 'sleep 0.2; echo 1 >> \"$SCRATCH/written\"; exit 85' USR1\n"
           "touch \"$SCRATCH/ready.$$\"\nset -- \"$SCRATCH\"/ready.*\n"
           "[ $# -lt \"${WORLD_SIZE:-$SLURM_NTASKS}\" ] || touch \"$SCRATCH/ready\"\n"
           "while :; do sleep 0.05; done");
    const pid_t script = start(GetParam());
    wait_for_file(folder_.file("ready"));
    kill(script, number);
    EXPECT_EQ(wait_for(script), 85);
    EXPECT_FALSE(std::filesystem::exists(folder_.file("forced")))
        << "srun that gets SIGTERM ends the step by force";
    EXPECT_THAT(tests::text_of(folder_.file("written")), HasSubstr("1"));
    std::filesystem::remove(folder_.file("written"));
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      if (entry.path().filename().string().starts_with("ready.")) {
        std::filesystem::remove(entry.path());
      }
    }
  }
}

// As a real one does that is signalled while its step ends.
TEST_P(EachSbatchScriptTest, WhatTheEngineEndedWithIsKnownThoughSrunFails) {
  program("bin/srun", std::string(kSrun).replace(std::string(kSrun).rfind("exit"), 4,
                                                 "[ $highest = 0 ] || exit 255; exit"));
  engine("exit 0", "exit 85");
  EXPECT_EQ(run(GetParam()), 85);
  engine("exit 0", "exit 71");
  EXPECT_EQ(run(GetParam()), 71);
}

TEST_P(EachSbatchScriptTest, AStopBeforeTheEngineListensIsAStop) {
  engine("exit 0", "kill -USR1 $$");
  EXPECT_EQ(run(GetParam()), 85);
}

TEST_F(SbatchScriptTest, SiteLinesRunBeforeTheEngineWhateverTheyLeaveUnset) {
  config_.slurm.setup = {"[ -n \"$NEVER_SET\" ] || export FROM_SITE=\"it's here\""};
  engine("exit 0", "echo \"$FROM_SITE\" > \"$SCRATCH/seen\"; exit 0");
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(tests::text_of(folder_.file("seen")), "it's here\n");
}

// Slurmrestd signals the script, too.
TEST_P(EachSbatchScriptTest, ARequestToStopDuringTheSitesLinesDoesNotKillTheScript) {
  config_.slurm.setup = {"kill -USR1 $$"};
  engine("exit 0", "exit 0");
  EXPECT_EQ(run(GetParam()), 0);
  config_.slurm.setup = {"kill -TERM $$"};
  EXPECT_EQ(run(GetParam()), 85);
}

TEST_F(SbatchScriptTest, TheSitesUmaskIsTheResults) {
  config_.slurm.setup = {"umask 0027"};
  engine("exit 0", "umask > \"$SCRATCH/seen\"; exit 0");
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(tests::text_of(folder_.file("seen")), "0027\n");
}

TEST_F(SbatchScriptTest, AFaultIsOneAlthoughTheSitesLinesIgnoreTheEndsOfChildren) {
  config_.slurm.setup = {"trap '' CHLD"};
  engine("exit 0", "exit 64");
  EXPECT_EQ(run(), 64);
}

TEST_F(SbatchScriptTest, WhatSlurmrestdDoesNotSetIsSet) {
  engine("exit 0", "echo \"$HOME|$USER|$LOGNAME|$PWD|$(umask)\" > \"$SCRATCH/seen\"; exit 0");
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(tests::text_of(folder_.file("seen")),
              AllOf(StartsWith("/"), Not(HasSubstr("||")), HasSubstr("|" + attempt_ + "|0022")));
  environment_ = {{"HOME", "/my home"}, {"USER", "me"}};
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(tests::text_of(folder_.file("seen")), StartsWith("/my home|me|me|"));
}

}  // namespace
}  // namespace scheduler
