#include "slurm/local/local_cluster.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/unit/slurm/local/local_jobs.h"

namespace slurm {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Optional;
using ::testing::StartsWith;

constexpr const char* kWaitForFile = "while [ ! -e go ]; do sleep 0.02; done\n";

class LocalClusterTest : public LocalJobs {
 protected:
  void let_go() const { std::ofstream(folder_ / "work" / "go") << "go"; }
  bool has_run(const std::string& name) const {
    return becomes_true([&] { return times_run(name) > 0; });
  }
  // Whether the process of that record (started: the wrapper, job: the script) was stopped.
  bool is_stopped(const std::string& name, const std::string& record) const {
    const auto stat = lines("/proc/" + std::to_string(process_of(name, record).pid) + "/stat");
    return !stat.empty() && stat.front().find(") T ") != std::string::npos;
  }
};

TEST_F(LocalClusterTest, AJobThatEndsWellIsCompleted) {
  LocalCluster cluster(options());
  const SubmitResult result = cluster.submit(request("good", "exit 0"));
  ASSERT_EQ(result.outcome, SubmitOutcome::kAccepted) << result.message;
  ASSERT_TRUE(ends(cluster, "good"));
  const JobStatus job = status_of(cluster, result.job_id);
  EXPECT_EQ(job.state, JobState::kCompleted);
  EXPECT_THAT(job.exit_code, Optional(0));
  EXPECT_GE(job.start_time, job.submit_time);
  EXPECT_GE(job.end_time, job.start_time);
  EXPECT_FALSE(job.host.empty());
}

TEST_F(LocalClusterTest, WhatIsNoRecordFailsTheJobInWhoseFolderItIs) {
  LocalCluster cluster(options());
  for (const char* name : {"pipe", "link", "long", "unlocked", "good"}) {
    cluster.submit(request(name, "exit 0"));
    ASSERT_TRUE(ends(cluster, name));
  }
  for (const char* name : {"pipe", "link", "long"}) fs::remove(job_folder(name) / "exit");
  ASSERT_EQ(mkfifo((job_folder("pipe") / "exit").c_str(), 0600), 0);
  fs::create_symlink(job_folder("good") / "exit", job_folder("link") / "exit");
  std::ofstream(job_folder("long") / "exit");
  fs::resize_file(job_folder("long") / "exit", uintmax_t{8} << 30);
  fs::remove(job_folder("unlocked") / "lock");
  EXPECT_TRUE(cluster.states().complete);
  EXPECT_EQ(status_of(cluster, "good").state, JobState::kCompleted);
  EXPECT_THAT(status_of(cluster, "pipe").reason, HasSubstr("exit' is not a regular file"));
  EXPECT_THAT(status_of(cluster, "link").reason, HasSubstr("exit' is a symbolic link"));
  EXPECT_THAT(status_of(cluster, "long").reason, HasSubstr("exit' is longer than"));
  EXPECT_THAT(status_of(cluster, "unlocked").reason, HasSubstr("lock' is missing"));
  for (const char* name : {"pipe", "link", "long", "unlocked"}) {
    EXPECT_EQ(status_of(cluster, name).state, JobState::kFailed) << name;
    EXPECT_TRUE(cluster.cancel(name)) << name;
  }
}

TEST_F(LocalClusterTest, AJobWhoseFolderWasChangedRunsUntilItsProcessesHaveEnded) {
  LocalCluster cluster(options());
  cluster.submit(request("changed", kWaitForFile));
  cluster.states();
  ASSERT_TRUE(has_run("changed"));
  ASSERT_TRUE(becomes_true([&] { return fs::exists(job_folder("changed") / "job"); }));
  fs::remove(job_folder("changed") / "lock");
  fs::create_directory(job_folder("changed") / "lock");
  EXPECT_TRUE(cluster.states().complete);
  EXPECT_EQ(status_of(cluster, "changed").state, JobState::kRunning);
  EXPECT_THAT(status_of(cluster, "changed").reason, HasSubstr("its folder was changed"));
  EXPECT_TRUE(becomes_true([&] { return cluster.cancel("changed"); }));
  EXPECT_EQ(status_of(cluster, "changed").state, JobState::kFailed);
}

TEST_F(LocalClusterTest, TheExitCodeOfAFailedJobIsKept) {
  LocalCluster cluster(options());
  cluster.submit(request("bad", "exit 85"));
  ASSERT_TRUE(ends(cluster, "bad"));
  EXPECT_EQ(status_of(cluster, "bad").state, JobState::kFailed);
  EXPECT_THAT(status_of(cluster, "bad").exit_code, Optional(85));
}

TEST_F(LocalClusterTest, AJobKilledByASignalSaysWhich) {
  LocalCluster cluster(options());
  cluster.submit(request("killed", "kill -SEGV $$"));
  ASSERT_TRUE(ends(cluster, "killed"));
  const JobStatus job = status_of(cluster, "killed");
  EXPECT_EQ(job.state, JobState::kFailed);
  EXPECT_THAT(job.signal, Optional(SIGSEGV));
  EXPECT_EQ(job.exit_code, std::nullopt);
}

TEST_F(LocalClusterTest, ANameSubmittedTwiceRunsOnce) {
  LocalCluster cluster(options());
  const SubmitResult first = cluster.submit(request("twice", "exit 0"));
  const SubmitResult second = cluster.submit(request("twice", "exit 0"));
  EXPECT_EQ(second.outcome, SubmitOutcome::kAccepted);
  EXPECT_EQ(first.job_id, second.job_id);
  ASSERT_TRUE(ends(cluster, "twice"));
  EXPECT_EQ(cluster.submit(request("twice", "exit 0")).job_id, first.job_id);
  cluster.states();
  EXPECT_EQ(times_run("twice"), 1);
}

TEST_F(LocalClusterTest, SeveralWrappersForOneJobRunItOnce) {
  LocalClusterOptions impatient = options();
  impatient.start_grace = std::chrono::milliseconds(0);
  LocalCluster cluster(impatient);
  cluster.submit(request("raced", kWaitForFile));
  for (int i = 0; i < 20; ++i) cluster.states();
  LocalCluster other(impatient);
  other.states();
  let_go();
  ASSERT_TRUE(ends(cluster, "raced"));
  EXPECT_EQ(times_run("raced"), 1);
}

TEST_F(LocalClusterTest, AJobIsFoundAgainAfterItsDaemonWasKilled) {
  in_killed_process(
      [&] {
        LocalCluster daemon(options());
        daemon.submit(request("orphan", std::string(kWaitForFile) + "exit 7"));
        std::ofstream(folder_ / "submitted") << "yes";
      },
      0);
  // Killed at once it may have come to nothing; then it is submitted under the same name.
  LocalCluster cluster(options());
  cluster.submit(request("orphan", std::string(kWaitForFile) + "exit 7"));
  ASSERT_TRUE(has_run("orphan"));
  LocalCluster later(options());
  EXPECT_EQ(status_of(later, "orphan").state, JobState::kRunning);
  let_go();
  ASSERT_TRUE(ends(later, "orphan"));
  EXPECT_THAT(status_of(later, "orphan").exit_code, Optional(7));
  EXPECT_EQ(times_run("orphan"), 1);
}

TEST_F(LocalClusterTest, AJobHasNoneOfTheDaemonsFilesAndNoInput) {
  const std::string secret = folder_ / "secret";
  const int leaked = open(secret.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(leaked, 0);
  ASSERT_EQ(dup2(leaked, 42), 42);
  LocalCluster cluster(options());
  cluster.submit(request("clean", "ls -l /proc/$$/fd > fds; cat > input"));
  ASSERT_TRUE(ends(cluster, "clean"));
  close(leaked);
  close(42);
  const auto fds = lines(folder_ / "work" / "fds");
  EXPECT_THAT(fds, Not(Contains(HasSubstr("secret"))));
  EXPECT_THAT(fds, Not(Contains(HasSubstr("lock"))));
  EXPECT_THAT(fds, Not(Contains(HasSubstr(" 42 "))));
  EXPECT_THAT(fds, Contains(HasSubstr("0 -> /dev/null")));
  EXPECT_THAT(lines(folder_ / "work" / "input"), IsEmpty());
}

TEST_F(LocalClusterTest, AJobSeesTheEnvironmentItWasGivenAndNoOther) {
  setenv("MARGAY_TEST_SECRET", "token", 1);
  LocalCluster cluster(options());
  JobRequest job = request("env", "env | sort > seen; pwd > where");
  job.environment = {{"ITS_OWN", "two\nlines"}};
  cluster.submit(job);
  ASSERT_TRUE(ends(cluster, "env"));
  unsetenv("MARGAY_TEST_SECRET");
  const auto seen = lines(folder_ / "work" / "seen");
  EXPECT_THAT(seen, Not(Contains(StartsWith("MARGAY_TEST_SECRET"))));
  EXPECT_THAT(seen, Contains("ITS_OWN=two"));
  EXPECT_THAT(seen, Contains("MARGAY_JOB_NAME=env"));
  EXPECT_THAT(seen, Contains("MARGAY_JOB_ID=env"));
  EXPECT_THAT(seen, Contains(StartsWith("PATH=")));
  EXPECT_THAT(seen, Contains(StartsWith("HOME=")));
  EXPECT_THAT(lines(folder_ / "work" / "where"), ElementsAre((folder_ / "work").string()));
}

TEST_F(LocalClusterTest, AJobHasASessionOfItsOwn) {
  LocalCluster cluster(options());
  cluster.submit(request("session", "cut -d' ' -f1,6 /proc/$$/stat > ids"));
  ASSERT_TRUE(ends(cluster, "session"));
  const pid_t job = process_of("session", "job").pid;
  EXPECT_THAT(lines(folder_ / "work" / "ids"),
              ElementsAre(std::to_string(job) + " " + std::to_string(job)));
}

TEST_F(LocalClusterTest, MoreJobsThanSlotsWaitAndRunInOrder) {
  LocalClusterOptions one = options();
  one.slots = 1;
  LocalCluster cluster(one);
  for (const char* name : {"c", "a", "b"}) cluster.submit(request(name, kWaitForFile));
  ASSERT_TRUE(has_run("c"));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(status_of(cluster, "c").state, JobState::kRunning);
    EXPECT_EQ(status_of(cluster, "a").state, JobState::kPending);
  }
  EXPECT_THAT(status_of(cluster, "b").reason, HasSubstr("slot"));
  EXPECT_THAT(cluster.describe(), HasSubstr("1 slot, 1 running, 2 waiting"));
  let_go();
  LocalCluster after_restart(one);
  ASSERT_TRUE(ends(after_restart, "b"));
  EXPECT_THAT(lines(folder_ / "ran"), ElementsAre("c", "a", "b"));
}

TEST_F(LocalClusterTest, AJobThatObeysIsCancelledWithItsChildren) {
  LocalCluster cluster(options());
  cluster.submit(request("obeys", "sleep 1000 & echo $! > child; wait"));
  ASSERT_TRUE(becomes_true([&] { return !lines(folder_ / "work" / "child").empty(); }));
  const pid_t child = std::stoi(lines(folder_ / "work" / "child").front());
  ASSERT_TRUE(becomes_true([&] { return cluster.cancel("obeys"); }));
  EXPECT_EQ(status_of(cluster, "obeys").state, JobState::kCancelled);
  EXPECT_EQ(ProcessTable().identify(child), std::nullopt);
}

TEST_F(LocalClusterTest, AJobThatIgnoresTermIsKilledOverARestartOfTheDaemon) {
  {
    LocalCluster cluster(options());
    cluster.submit(request("deaf", "trap '' TERM; touch ready; while :; do sleep 0.05; done"));
    ASSERT_TRUE(becomes_true([&] { return fs::exists(folder_ / "work" / "ready"); }));
    EXPECT_FALSE(cluster.cancel("deaf"));
    EXPECT_EQ(status_of(cluster, "deaf").state, JobState::kRunning);
  }
  LocalCluster cluster(options());
  ASSERT_TRUE(becomes_true([&] { return cluster.cancel("deaf"); }));
  const JobStatus job = status_of(cluster, "deaf");
  EXPECT_EQ(job.state, JobState::kCancelled);
  EXPECT_THAT(job.signal, Optional(SIGKILL));
}

TEST_F(LocalClusterTest, AJobThatEndsWellAlthoughCancelledIsCompleted) {
  LocalCluster cluster(options());
  cluster.submit(
      request("polite", "trap 'exit 0' TERM; touch ready; while :; do sleep 0.02; done"));
  ASSERT_TRUE(becomes_true([&] { return fs::exists(folder_ / "work" / "ready"); }));
  ASSERT_TRUE(becomes_true([&] { return cluster.cancel("polite"); }));
  EXPECT_EQ(status_of(cluster, "polite").state, JobState::kCompleted);
}

TEST_F(LocalClusterTest, AJobThatWaitsForASlotAndIsCancelledNeverRuns) {
  LocalClusterOptions one = options();
  one.slots = 1;
  LocalCluster cluster(one);
  cluster.submit(request("first", kWaitForFile));
  cluster.submit(request("second", "exit 0"));
  EXPECT_TRUE(cluster.cancel("second"));
  let_go();
  ASSERT_TRUE(ends(cluster, "first"));
  EXPECT_EQ(status_of(cluster, "second").state, JobState::kCancelled);
  EXPECT_EQ(times_run("second"), 0);
}

TEST_F(LocalClusterTest, AskingForACheckpointReachesTheEngineAndNotTheScript) {
  LocalCluster cluster(options());
  cluster.submit(request("engine",
                         "dash -c 'trap \"exit 85\" USR1; touch ready; "
                         "while :; do sleep 0.02; done'\nexit $?"));
  ASSERT_TRUE(becomes_true([&] { return fs::exists(folder_ / "work" / "ready"); }));
  EXPECT_TRUE(cluster.signal_stop("engine"));
  ASSERT_TRUE(ends(cluster, "engine"));
  EXPECT_THAT(status_of(cluster, "engine").exit_code, Optional(85));
}

TEST_F(LocalClusterTest, WhatAScriptLeavesRunningIsEndedBeforeTheJobIs) {
  LocalCluster cluster(options());
  cluster.submit(request("leaves", "sleep 1000 & echo $! > child; exit 3"));
  ASSERT_TRUE(ends(cluster, "leaves"));
  const pid_t child = std::stoi(lines(folder_ / "work" / "child").front());
  EXPECT_EQ(ProcessTable().identify(child), std::nullopt);
  EXPECT_THAT(status_of(cluster, "leaves").exit_code, Optional(3));
}

TEST_F(LocalClusterTest, AJobWhoseWrapperWasKilledRunsOnAndEndsAsNodeFail) {
  LocalCluster cluster(options());
  cluster.submit(request("alone", kWaitForFile));
  ASSERT_TRUE(has_run("alone"));
  const ProcessTable table;
  ASSERT_TRUE(table.signal(process_of("alone", "started"), SIGKILL));
  ASSERT_TRUE(becomes_true(
      [&] { return status_of(cluster, "alone").reason.find("wrapper") != std::string::npos; }));
  EXPECT_EQ(status_of(cluster, "alone").state, JobState::kRunning);
  let_go();
  ASSERT_TRUE(
      becomes_true([&] { return status_of(cluster, "alone").state == JobState::kNodeFail; }));
  EXPECT_EQ(times_run("alone"), 1);
}

TEST_F(LocalClusterTest, AJobWhoseWrapperWasKilledCanBeCancelled) {
  LocalCluster cluster(options());
  cluster.submit(request("alone", "sleep 1000"));
  ASSERT_TRUE(has_run("alone"));
  const ProcessTable table;
  table.signal(process_of("alone", "started"), SIGKILL);
  ASSERT_TRUE(becomes_true([&] { return cluster.cancel("alone"); }));
  EXPECT_EQ(status_of(cluster, "alone").state, JobState::kCancelled);
  EXPECT_FALSE(table.alive(process_of("alone", "job")));
}

TEST_F(LocalClusterTest, AProcessNumberUsedAgainIsNeitherTheJobNorKilled) {
  LocalCluster cluster(options());
  cluster.submit(request("reused", "exec sleep 1000"));
  ASSERT_TRUE(has_run("reused"));
  const ProcessTable table;
  const ProcessIdentity real = process_of("reused", "job");
  table.signal(process_of("reused", "started"), SIGKILL);
  ProcessIdentity earlier = real;
  earlier.start_ticks -= 1;
  JobFolder(job_folder("reused")).write("job", to_record(earlier));
  ASSERT_TRUE(becomes_true([&] { return cluster.cancel("reused"); }));
  EXPECT_TRUE(table.alive(real));
  table.signal(real, SIGKILL);
}

TEST_F(LocalClusterTest, ARestartOfTheMachineIsToldApartFromTheEndOfTheJob) {
  {
    LocalCluster cluster(options());
    cluster.submit(request("interrupted", "sleep 1000"));
    cluster.submit(request("finished", "exit 0"));
    ASSERT_TRUE(has_run("interrupted"));
    ASSERT_TRUE(ends(cluster, "finished"));
  }
  const ProcessTable table;
  table.signal(process_of("interrupted", "started"), SIGKILL);
  LocalClusterOptions rebooted = options();
  rebooted.boot_id = folder_ / "boot_id";
  std::ofstream(rebooted.boot_id) << "00000000-1111-2222-3333-444444444444\n";
  LocalCluster cluster(rebooted);
  ASSERT_TRUE(
      becomes_true([&] { return status_of(cluster, "interrupted").state == JobState::kNodeFail; }));
  EXPECT_THAT(status_of(cluster, "interrupted").reason, HasSubstr("machine restarted"));
  EXPECT_EQ(status_of(cluster, "finished").state, JobState::kCompleted);
  EXPECT_TRUE(cluster.cancel("interrupted"));
  EXPECT_TRUE(table.alive(process_of("interrupted", "job")));
  table.signal(process_of("interrupted", "job"), SIGKILL);
}

TEST_F(LocalClusterTest, AStoppedJobIsContinuedByItsCancellation) {
  LocalCluster cluster(options());
  cluster.submit(request("frozen", "trap 'exit 9' TERM; kill -STOP $$; sleep 1000"));
  ASSERT_TRUE(has_run("frozen"));
  ASSERT_TRUE(becomes_true([&] { return is_stopped("frozen", "job"); }));
  ASSERT_TRUE(becomes_true([&] { return cluster.cancel("frozen"); }));
  EXPECT_THAT(status_of(cluster, "frozen").exit_code, Optional(9));
}

TEST_F(LocalClusterTest, AStoppedWrapperWhoseJobHasEndedIsContinued) {
  LocalCluster cluster(options());
  cluster.submit(request("held", std::string(kWaitForFile) + "exit 7"));
  ASSERT_TRUE(has_run("held"));
  ProcessTable().signal(process_of("held", "started"), SIGSTOP);
  ASSERT_TRUE(becomes_true([&] { return is_stopped("held", "started"); }));
  let_go();
  ASSERT_TRUE(ends(cluster, "held"));
  EXPECT_THAT(status_of(cluster, "held").exit_code, Optional(7));
}

TEST_F(LocalClusterTest, AJobThatReachesItsTimeLimitIsAskedToEndAndThenKilled) {
  LocalCluster cluster(options());
  JobRequest obedient = request("obedient", "trap 'exit 9' TERM; sleep 1000 & wait");
  obedient.script = "#!/bin/bash\n#SBATCH --time=0:01\n" + obedient.script;
  JobRequest stubborn = request("stubborn", "trap '' TERM; while :; do sleep 0.05; done");
  stubborn.script = "#!/bin/bash\n#SBATCH --time=0:01\n" + stubborn.script;
  cluster.submit(obedient);
  cluster.submit(stubborn);
  ASSERT_TRUE(ends(cluster, "obedient"));
  ASSERT_TRUE(ends(cluster, "stubborn"));
  EXPECT_EQ(status_of(cluster, "obedient").state, JobState::kTimeout);
  EXPECT_THAT(status_of(cluster, "obedient").exit_code, Optional(9));
  EXPECT_THAT(status_of(cluster, "obedient").reason, HasSubstr("time limit of 00:00:01"));
  EXPECT_EQ(status_of(cluster, "stubborn").state, JobState::kTimeout);
  EXPECT_THAT(status_of(cluster, "stubborn").signal, Optional(SIGKILL));
}

TEST_F(LocalClusterTest, AJobThatTheKernelKilledForWantOfMemoryIsOutOfMemory) {
  LocalCluster cluster(options());
  cluster.submit(request("large", "kill -KILL $$"));
  ASSERT_TRUE(ends(cluster, "large"));
  EXPECT_EQ(status_of(cluster, "large").state, JobState::kFailed) << "somebody else killed it";
  const JobFolder folder(job_folder("large"));
  ExitRecord end = to_exit_record(folder.read("exit").value());
  end.out_of_memory = true;
  folder.write("exit", to_record(end));
  EXPECT_EQ(status_of(cluster, "large").state, JobState::kOutOfMemory);
  EXPECT_THAT(status_of(cluster, "large").reason, HasSubstr("ran out of memory"));
}

TEST_F(LocalClusterTest, AStoppedJobIsEndedByItsTimeLimit) {
  LocalCluster cluster(options());
  JobRequest job = request("frozen", "kill -STOP $$");
  job.script = "#!/bin/bash\n#SBATCH --time=0:01\n" + job.script;
  cluster.submit(job);
  ASSERT_TRUE(ends(cluster, "frozen"));
  EXPECT_EQ(status_of(cluster, "frozen").state, JobState::kTimeout);
}

TEST_F(LocalClusterTest, TheEngineIsSignalledBeforeTheTimeLimitAsTheScriptAsks) {
  LocalCluster cluster(options());
  JobRequest job = request("warned",
                           "dash -c 'trap \"exit 85\" USR1; while :; do sleep 0.02; done'\n"
                           "exit $?");
  job.script = "#!/bin/bash\n#SBATCH --time=10:00 --signal=USR1@598\n" + job.script;
  cluster.submit(job);
  ASSERT_TRUE(ends(cluster, "warned"));
  EXPECT_EQ(status_of(cluster, "warned").state, JobState::kFailed);
  EXPECT_THAT(status_of(cluster, "warned").exit_code, Optional(85));
}

TEST_F(LocalClusterTest, AScriptWithAnInvalidTimeLimitIsRefused) {
  LocalCluster cluster(options());
  JobRequest job = request("odd", "exit 0");
  job.script = "#!/bin/bash\n#SBATCH --time=soon\n" + job.script;
  const SubmitResult result = cluster.submit(job);
  EXPECT_EQ(result.outcome, SubmitOutcome::kRejected);
  EXPECT_THAT(result.message, HasSubstr("soon"));
  EXPECT_THAT(cluster.states().jobs, IsEmpty());
}

TEST_F(LocalClusterTest, AForgottenJobIsGoneAndOneThatRunsIsForgottenAtItsEnd) {
  LocalCluster cluster(options());
  cluster.submit(request("short", "exit 0"));
  cluster.submit(request("long", kWaitForFile));
  ASSERT_TRUE(ends(cluster, "short"));
  ASSERT_TRUE(has_run("long"));
  cluster.forget("short");
  cluster.forget("long");
  EXPECT_THAT(cluster.find_by_name("short"), Optional(IsEmpty()));
  EXPECT_EQ(status_of(cluster, "long").state, JobState::kRunning);
  let_go();
  EXPECT_TRUE(becomes_true([&] { return cluster.states().jobs.empty(); }));
  EXPECT_FALSE(fs::exists(job_folder("long")));
}

TEST_F(LocalClusterTest, AFolderHalfWrittenWhenTheDaemonDiedIsNoJob) {
  fs::create_directories(folder_ / "local" / ".new-half");
  std::ofstream(folder_ / "local" / ".new-half" / "job.sh") << "exit 0";
  LocalCluster cluster(options());
  EXPECT_THAT(cluster.states().jobs, IsEmpty());
  EXPECT_THAT(cluster.find_by_name("half"), Optional(IsEmpty()));
  cluster.submit(request("half", "exit 0"));
  ASSERT_TRUE(ends(cluster, "half"));
  EXPECT_EQ(times_run("half"), 1);
}

TEST_F(LocalClusterTest, AJobWhoseOutputCannotBeOpenedFailsWithTheReason) {
  LocalCluster cluster(options());
  JobRequest job = request("mute", "exit 0");
  job.output_path = folder_ / "no-such-folder" / "job.log";
  cluster.submit(job);
  ASSERT_TRUE(ends(cluster, "mute"));
  EXPECT_EQ(status_of(cluster, "mute").state, JobState::kFailed);
  EXPECT_THAT(status_of(cluster, "mute").reason, HasSubstr("no-such-folder"));
  EXPECT_EQ(times_run("mute"), 0);
}

TEST_F(LocalClusterTest, ARequestThatCannotRunIsRefusedAndLeavesNothing) {
  LocalClusterOptions no_helper = options();
  no_helper.helper = folder_ / "absent";
  LocalCluster cluster(no_helper);
  const SubmitResult result = cluster.submit(request("x", "exit 0"));
  EXPECT_EQ(result.outcome, SubmitOutcome::kRejected);
  EXPECT_THAT(result.message, HasSubstr("absent"));
  LocalCluster sound(options());
  EXPECT_EQ(sound.submit(request("../escape", "exit 0")).outcome, SubmitOutcome::kRejected);
  JobRequest nowhere = request("nowhere", "exit 0");
  nowhere.directory = folder_ / "nowhere";
  EXPECT_EQ(sound.submit(nowhere).outcome, SubmitOutcome::kRejected);
  EXPECT_THAT(sound.states().jobs, IsEmpty());
}

TEST_F(LocalClusterTest, AClusterThatCannotBeAskedSaysSoInsteadOfShowingNoJobs) {
  LocalCluster cluster(options());
  cluster.submit(request("there", kWaitForFile));
  ASSERT_TRUE(has_run("there"));
  fs::rename(folder_ / "local", folder_ / "elsewhere");
  const Snapshot snapshot = cluster.states();
  EXPECT_FALSE(snapshot.complete);
  EXPECT_FALSE(snapshot.problem.empty());
  fs::rename(folder_ / "elsewhere", folder_ / "local");
  EXPECT_EQ(status_of(cluster, "there").state, JobState::kRunning);
}

}  // namespace
}  // namespace slurm
