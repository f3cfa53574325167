// How the jobs of the local cluster end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "slurm/local/local_cluster.h"
#include "tests/unit/slurm/local/local_jobs.h"

namespace slurm {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Optional;

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
  // As long as that the job's wrapper has to record the end, which takes a while on a busy machine.
  LocalClusterOptions slow = options();
  slow.kill_wait = std::chrono::seconds(2);
  {
    LocalCluster cluster(slow);
    cluster.submit(request("deaf", "trap '' TERM; touch ready; while :; do sleep 0.05; done"));
    ASSERT_TRUE(becomes_true([&] { return fs::exists(folder_ / "work" / "ready"); }));
    EXPECT_FALSE(cluster.cancel("deaf"));
    EXPECT_EQ(status_of(cluster, "deaf").state, JobState::kRunning);
  }
  LocalCluster cluster(slow);
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

TEST_F(LocalClusterTest, ARestartOfTheMachineIsDistinguishedFromTheEndOfTheJob) {
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

}  // namespace
}  // namespace slurm
