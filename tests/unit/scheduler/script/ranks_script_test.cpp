// What the scripts of the shapes node and nodes do, with many ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/scheduler/script/sbatch_script_fixture.h"

namespace scheduler {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(SbatchScriptTest, ThereIsARankForEachGpuAndTheyMeetByAFile) {
  EXPECT_EQ(run("nodes"), 0);
  EXPECT_THAT(steps(), StartsWith("--nodes=2 --ntasks=4 --ntasks-per-node=2 --cpus-per-task=3 "
                                  "--gpus-per-task=1 --kill-on-bad-exit=1 --wait=0 " +
                                  config_.job + " rank "));
  EXPECT_THAT(calls(), AllOf(HasSubstr("--backend cuda --threads 3"),
                             HasSubstr("--rendezvous file:" + attempt_ +
                                       "/rendezvous --run-id margay-x-7-a1.77.0\n")));
  EXPECT_EQ(count_of_calls("match"), 4);
  EXPECT_EQ(count_of_calls("selftest"), 4);
  EXPECT_EQ(run("node"), 0);
  EXPECT_THAT(steps(), AllOf(StartsWith("--nodes=1 --ntasks=2 "),
                             HasSubstr(" --kill-on-bad-exit=1 --wait=0 ")));
  EXPECT_EQ(count_of_calls("match"), 2);
}

TEST_F(SbatchScriptTest, AStartOfTheSameJobIsAnotherRun) {
  environment_["SLURM_RESTART_COUNT"] = "2";
  EXPECT_EQ(run("nodes"), 0);
  EXPECT_THAT(calls(), HasSubstr("--run-id margay-x-7-a1.77.2\n"));
}

TEST_F(SbatchScriptTest, OneLauncherOnEachMachineStartsTheRanksThere) {
  config_.slurm.launcher = RankLauncher::kNode;
  environment_["CUDA_VISIBLE_DEVICES"] = "4,6";
  engine("exit 0",
         "echo \"$RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $CUDA_VISIBLE_DEVICES\" > "
         "\"$SCRATCH/rank$RANK\"; exit 0");
  EXPECT_EQ(run("nodes"), 0);
  EXPECT_THAT(steps(), StartsWith("--nodes=2 --ntasks=2 --ntasks-per-node=1 --cpus-per-task=6 "
                                  "--kill-on-bad-exit=1 --wait=0 " +
                                  config_.job + " rank "));
  EXPECT_EQ(tests::text_of(folder_.file("rank0")), "0 0 4 2 4\n");
  EXPECT_EQ(tests::text_of(folder_.file("rank1")), "1 1 4 2 6\n");
  EXPECT_EQ(tests::text_of(folder_.file("rank2")), "2 0 4 2 4\n");
  EXPECT_EQ(tests::text_of(folder_.file("rank3")), "3 1 4 2 6\n");
  EXPECT_EQ(count_of_calls("match"), 4);
}

class EachLauncherTest : public SbatchScriptTest, public testing::WithParamInterface<RankLauncher> {
 protected:
  EachLauncherTest() {
    config_.slurm.launcher = GetParam();
    rank_ = GetParam() == RankLauncher::kNode ? "$RANK" : "$SLURM_PROCID";
  }
  std::string rank_;
};

INSTANTIATE_TEST_SUITE_P(Each, EachLauncherTest,
                         testing::Values(RankLauncher::kTask, RankLauncher::kNode),
                         [](const auto& launcher) {
                           return launcher.param == RankLauncher::kTask ? "Task" : "Node";
                         });

TEST_P(EachLauncherTest, TheFirstFaultOfARankCounts) {
  // The other ranks stop when one is lost, and report that; or srun ends them by a signal.
  engine("exit 0", "[ " + rank_ + " != 2 ] || exit 71\nsleep 0.3\nkill -KILL $$");
  EXPECT_EQ(run("nodes"), 71);
  engine("[ " + rank_ + " != 1 ] || exit 70\nsleep 0.3\nkill -KILL $$", "exit 0");
  EXPECT_EQ(run("nodes"), 70);
  engine("exit 0", "exit 0");
  EXPECT_EQ(run("nodes"), 0) << "the fault of an earlier start is forgotten";
}

// All end at once: the others see that one is gone before it has said how it ended.
TEST_P(EachLauncherTest, OfRanksThatEndTogetherTheOneThatTheOthersEndForCounts) {
  const std::map<std::string, int> ends = {
      {"exit 64", 64}, {"exit 71", 71}, {"kill -KILL $$", 137}, {"kill -SEGV $$", 139}};
  for (const char* rank : {"0", "2"}) {
    for (const auto& [end, code] : ends) {
      engine("exit 0", "[ " + rank_ + " != " + rank + " ] || " + end + "\nexit 70");
      EXPECT_EQ(run("nodes"), code) << "rank " << rank << ": " << end;
    }
  }
}

TEST_P(EachLauncherTest, AStopWithACheckpointIsOneAlthoughAnotherRankEndsHard) {
  engine("exit 0", "[ " + rank_ + " != 0 ] || exit 85\nsleep 0.3\nkill -KILL $$");
  EXPECT_EQ(run("nodes"), 85);
}

TEST_P(EachLauncherTest, TheFirstRankHasAsLongAsItWantsForTheMapsWhateverTheSitesWaitTime) {
  environment_["SLURM_WAIT"] = "30";
  engine("exit 0", "[ " + rank_ + " = 0 ] || exit 0\nsleep 0.5\ntouch \"$SCRATCH/maps\"");
  EXPECT_EQ(run("nodes"), 0);
  EXPECT_TRUE(std::filesystem::exists(folder_.file("maps")));
}

TEST_P(EachLauncherTest, AFaultIsBlamedOnTheHostWhereItWas) {
  const std::string is_rank_2 = "[ " + rank_ + " != 2 ] || ";
  const auto blamed = [&] { return tests::text_of(attempt_ + "/failed_host"); };
  engine(is_rank_2 + "exit 70\nexit 0", "exit 0");
  EXPECT_EQ(run("nodes"), 70);
  EXPECT_EQ(blamed(), "n02\n") << "its device failed the probe";
  engine("exit 0", is_rank_2 + "kill -SEGV $$\nsleep 0.3\nexit 70");
  EXPECT_EQ(run("nodes"), 139);
  EXPECT_EQ(blamed(), "n02\n");
  engine("exit 0", is_rank_2 + "exit 70\n[ " + rank_ +
                       " != 0 ] || echo 'margay-engine: rank 2 on a.host was lost: it failed' >> "
                       "job.log\nexit 70");
  EXPECT_EQ(run("nodes"), 70);
  EXPECT_EQ(blamed(), "n02\n") << "as the first rank says";
  engine("exit 0", "[ " + rank_ +
                       " != 0 ] || echo 'margay-engine: rank 0 was lost: its device hangs' >> "
                       "job.log\nexit 70");
  EXPECT_EQ(run("nodes"), 70);
  EXPECT_EQ(blamed(), "n01\n") << "as it says of itself";
}

TEST_P(EachLauncherTest, AFaultThatMayBeOfAnyHostIsBlamedOnNone) {
  const std::string blamed = attempt_ + "/failed_host";
  for (const char* code : {"64", "70", "71", "85", "0"}) {
    engine("exit 0", "exit " + std::string(code));
    run("nodes");
    EXPECT_FALSE(std::filesystem::exists(blamed)) << code;
  }
  engine("exit 0",
         "echo 'margay-engine: rank 2 on a.host was lost: x; the others go on without it' "
         ">> job.log\nexit 70");
  EXPECT_EQ(run("nodes"), 70);
  EXPECT_FALSE(std::filesystem::exists(blamed));
}

TEST_P(EachLauncherTest, ARankThatHasStoppedLeavesTheFirstItsTimeForTheCheckpoint) {
  engine("exit 0", "[ " + rank_ + " != 0 ] || sleep 0.5\n" + "[ " + rank_ +
                       " != 0 ] || echo done > \"$SCRATCH/written\"\nexit 85");
  EXPECT_EQ(run("nodes"), 85);
  EXPECT_EQ(tests::text_of(folder_.file("written")), "done\n");
}

TEST_P(EachLauncherTest, ASignalReachesEveryRank) {
  // With the first one's end the others are ended.
  engine("exit 0", "stop() {\n  echo " + rank_ + " >> \"$SCRATCH/stopped\"\n" + "  while [ " +
                       rank_ + " = 0 ] && [ \"$(wc -l < \"$SCRATCH/stopped\")\" -lt 4 ]\n" +
                       "  do sleep 0.01; done\n  exit 85\n}\ntrap stop USR1\n" +
                       "touch \"$SCRATCH/ready." + rank_ + "\"\nset -- \"$SCRATCH\"/ready.*\n" +
                       "[ $# -lt 4 ] || touch \"$SCRATCH/ready\"\nwhile :; do sleep 0.05; done");
  const pid_t script = start("nodes");
  wait_for_file(folder_.file("ready"));
  kill(script, SIGUSR1);
  EXPECT_EQ(wait_for(script), 85);
  const std::string stopped = tests::text_of(folder_.file("stopped"));
  EXPECT_EQ(std::count(stopped.begin(), stopped.end(), '\n'), 4) << stopped;
}

}  // namespace
}  // namespace scheduler
