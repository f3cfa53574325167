// templates/*.sbatch as they are rendered, run by bash with margay-job and stand-ins for srun and
// the engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <sstream>
#include <thread>
#include <vector>

#include "scheduler/script/job_script.h"
#include "tests/scratch_folder.h"

namespace scheduler {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// What the real one was seen to do: tasks in process groups of their own, SIGUSR1 passed on to
// them, SIGTERM to itself ends them by force, --kill-on-bad-exit, the highest exit code. When one
// has ended the others have as long as --wait says, here none; SLURM_WAIT stands for the site's
// WaitTime.
constexpr const char* kSrun = R"sh(#!/bin/bash
echo "${*//$'\n'/ }" >> "$SCRATCH/srun"
nodes=1 tasks=1 strict= wait=${SLURM_WAIT:-0}
while [[ "${1:-}" == --* ]]; do
  case "$1" in
    --nodes=*) nodes=${1#*=} ;;
    --ntasks-per-node=*) tasks=${1#*=} ;;
    --kill-on-bad-exit=1) strict=yes ;;
    --wait=*) wait=${1#*=} ;;
  esac
  shift
done
set -m
pids=()
asked=
trap 'asked=yes' USR1
trap 'touch "$SCRATCH/forced"; for p in "${pids[@]}"; do kill -KILL -- "-$p"; done' TERM
for ((i = 0; i < nodes * tasks; ++i)); do
  SLURM_PROCID=$i SLURM_LOCALID=$((i % tasks)) SLURM_NODEID=$((i / tasks)) SLURM_NNODES=$nodes \
    SLURM_NTASKS=$((nodes * tasks)) SLURM_STEP_NUM_TASKS=$((nodes * tasks)) SLURMD_NODENAME=n0$((i / tasks + 1)) "$@" &
  pids+=($!)
done
highest=0
while [ "${#pids[@]}" -gt 0 ]; do
  sleep 0.01
  if [ -n "$asked" ]; then
    asked=
    for p in "${pids[@]}"; do kill -USR1 -- "-$p"; done
  fi
  left=()
  for p in "${pids[@]}"; do
    if kill -0 "$p" 2>/dev/null; then
      left+=("$p")
      continue
    fi
    wait "$p"
    code=$?
    [ "$code" -le "$highest" ] || highest=$code
    [ "$code" -eq 0 ] || [ -z "$strict" ] || strict=now
    [ "$wait" -eq 0 ] || strict=now
  done
  pids=("${left[@]}")
  if [ "$strict" = now ]; then
    for p in "${pids[@]}"; do kill -TERM -- "-$p" 2>/dev/null; done
  fi
done
exit "$highest"
)sh";

class SbatchScriptTest : public testing::Test {
 protected:
  SbatchScriptTest() {
    config_.state = folder_.file("st ate");
    config_.engine = folder_.file("engine");
    config_.job = MARGAY_BIN_DIR "/margay-job";
    config_.templates = std::string(MARGAY_SOURCE_DIR) + "/templates";
    config_.cluster = "slurm";
    config_.slurm.nodes = 2;
    config_.slurm.gpus_per_node = 2;
    item_ = config_.jobs() + "/7";
    attempt_ = item_ + "/a'1";
    std::filesystem::create_directories(attempt_);
    std::filesystem::create_directories(folder_.file("bin"));
    current(1);
    program("bin/srun", kSrun);
    engine("exit 0", "exit 0");
  }

  void program(const std::string& name, const std::string& text) {
    std::filesystem::permissions(folder_.write(name, text), std::filesystem::perms::owner_all);
  }

  void engine(const std::string& probe, const std::string& search) {
    // One write for each call: several tasks write into the same file.
    program("engine",
            "#!/bin/bash\necho \"$*\" >> \"$SCRATCH/engine_calls\"\n"
            "if [ \"$1\" = selftest ]; then\n" +
                probe + "\nfi\n" + search + "\n");
  }

  void current(int number) { std::ofstream(item_ + "/current") << number << "\n"; }

  std::string rendered(const std::string& shape) {
    const ScriptInputs inputs{
        .item = {.id = 7},
        .attempt = {.item_id = 7, .number = 1, .token = "margay-x-7-a1", .directory = attempt_},
        .shape = parse_shape(shape)};
    return render_job(config_, inputs).text;
  }

  pid_t start(const std::string& shape = "gpu") {
    const std::string script = folder_.write("job.sh", rendered(shape));
    const pid_t child = fork();
    if (child == 0) {
      // As slurmrestd gives it, without HOME and USER.
      std::vector<std::string> pairs = {
          "PATH=" + folder_.file("bin") + ":/usr/bin:/bin", "SCRATCH=" + folder_.path(),
          "SLURM_JOB_ID=77", "SLURM_JOB_NUM_NODES=" + std::string(shape == "nodes" ? "2" : "1"),
          "SLURM_CPUS_ON_NODE=6"};
      for (const auto& [name, value] : environment_) pairs.push_back(name + "=" + value);
      std::vector<char*> variables;
      for (std::string& pair : pairs) variables.push_back(pair.data());
      variables.push_back(nullptr);
      const char* const arguments[] = {"bash", script.c_str(), nullptr};
      execve("/bin/bash", const_cast<char* const*>(arguments), variables.data());
      _exit(126);
    }
    return child;
  }

  static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  // Without the traces of the last run.
  int run(const std::string& shape = "gpu") {
    std::filesystem::remove_all(attempt_ + "/claim");
    for (const char* name : {"srun", "engine_calls"}) {
      std::filesystem::remove(folder_.file(name));
    }
    return wait_for(start(shape));
  }

  void wait_for_file(const std::string& name) {
    while (!std::filesystem::exists(folder_.file(name))) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  std::string calls() { return tests::text_of(folder_.file("engine_calls")); }
  int count_of_calls(const std::string& command) {
    int count = 0;
    std::istringstream lines(calls());
    for (std::string line; std::getline(lines, line);) count += line.starts_with(command + " ");
    return count;
  }
  std::string steps() { return tests::text_of(folder_.file("srun")); }

  tests::ScratchFolder folder_;
  Config config_;
  std::string item_;
  std::string attempt_;
  std::map<std::string, std::string> environment_;
};

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
  wait_for_file("ready");
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
    wait_for_file("ready");
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
  // The others stop when one is gone, and tell of that; or srun ends them by a signal.
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
  wait_for_file("ready");
  kill(script, SIGUSR1);
  EXPECT_EQ(wait_for(script), 85);
  const std::string stopped = tests::text_of(folder_.file("stopped"));
  EXPECT_EQ(std::count(stopped.begin(), stopped.end(), '\n'), 4) << stopped;
}

}  // namespace
}  // namespace scheduler
