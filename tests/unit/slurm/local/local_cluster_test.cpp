#include "slurm/local/local_cluster.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

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

TEST_F(LocalClusterTest, ItsFactsAreItsSlotsAsGpusOfOneNode) {
  LocalClusterOptions two = options();
  two.slots = 2;
  LocalCluster cluster(two);
  JobRequest limited = request("first", kWaitForFile);
  limited.script.insert(0, "#!/bin/bash\n#SBATCH --time=10\n");
  for (const JobRequest& one :
       {limited, request("second", kWaitForFile), request("third", kWaitForFile)}) {
    cluster.submit(one);
  }
  ASSERT_TRUE(has_run("first"));
  ASSERT_TRUE(has_run("second"));
  const ClusterFacts facts = cluster.facts();
  ASSERT_TRUE(facts.complete) << facts.problem;
  const NodeFacts& node = facts.site.nodes.value->each.at(0);
  EXPECT_EQ(node.gpus, 2);
  EXPECT_EQ(node.gpus_busy, 2);
  EXPECT_EQ(node.use, NodeUse::kUsable);
  ASSERT_EQ(facts.running.size(), 2U);
  const QueuedJob& first = facts.running[0];
  EXPECT_EQ(first.status.name, "first");
  EXPECT_TRUE(first.ours);
  EXPECT_EQ(first.limit_end, first.status.start_time + 600);
  EXPECT_EQ(shares_of(first).at(0).node, node.name);
  EXPECT_EQ(shares_of(first).at(0).gpus, 1);
  EXPECT_EQ(facts.running[1].limit_end, 0);
  ASSERT_EQ(facts.waiting.size(), 1U);
  EXPECT_EQ(facts.waiting[0].status.name, "third");
  EXPECT_EQ(facts.limits_problem, "") << "it is known that there are none";
  EXPECT_EQ(why_limits_are_unknown(facts.site), "");
  let_go();
  for (const char* name : {"first", "second", "third"}) ASSERT_TRUE(ends(cluster, name));
  EXPECT_EQ(cluster.facts().site.nodes.value->each.at(0).gpus_busy, 0);
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
