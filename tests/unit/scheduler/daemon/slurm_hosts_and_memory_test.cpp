// What the next try of a search asks for, after one that failed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "db/host_failures.h"
#include "tests/unit/scheduler/daemon/slurm_submit_fixture.h"

namespace scheduler {
namespace {

using db::AttemptState;
using db::ItemState;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Fault = tests::FakeCluster::Fault;

TEST_F(DaemonSlurmSubmitTest, TheNextTryKeepsAwayFromTheHostWhereItFailed) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  job_of(id).host = "node7";
  fail(attempt(id), 70);
  ticks(2);
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_THAT(attempt(id).script, HasSubstr("--exclude=node7"));
  EXPECT_THAT(attempt(id).explanation, HasSubstr("not at node7, where searches failed"));
  clock_.pass(config_.intervals.host_failures);
  fail(attempt(id), 71);
  ticks(2);
  ASSERT_THAT(attempts(id), SizeIs(3));
  EXPECT_THAT(attempt(id).script, testing::Not(HasSubstr("--exclude"))) << "it is exempt_through";
}

TEST_F(DaemonSlurmSubmitTest, OfSeveralHostsTheOneThatTheScriptNamesIsKeptAwayFrom) {
  const auto id = enqueue("a.mrc").id;
  for (const std::string named : {"", "node8\n", "node8 node9\n"}) {
    ticks(2);
    job_of(id).host = "node[7-9]";
    std::ofstream(attempt(id).directory + "/failed_host") << named;
    fail(attempt(id), 70);
    ticks(1);
    clock_.pass(config_.intervals.retry_longest);
    ticks(1);
    EXPECT_EQ(attempt(id).script.find("--exclude") != std::string::npos, named == "node8\n");
    clock_.pass(config_.intervals.host_failures);
  }
}

TEST_F(DaemonSlurmSubmitTest, AHostThatTheClusterDoesNotHaveAnyMoreHoldsNothingForLong) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  job_of(id).host = "node7";
  fail(attempt(id), 70);
  cluster_.faults = {Fault::kReject};
  cluster_.refusal = slurm::Refusal::kConfiguration;
  cluster_.refusal_message = "Invalid node name specified";
  ticks(2);
  EXPECT_THAT(attempt(id).script, HasSubstr("--exclude=node7"));
  EXPECT_EQ(attempt(id).state, AttemptState::kRejected);
  EXPECT_EQ(count_logged("node7 is not a node of the cluster"), 1);
  clock_.pass(config_.intervals.retry);
  ticks(5);
  EXPECT_THAT(attempt(id).script, testing::Not(HasSubstr("--exclude")));
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
  EXPECT_EQ(daemon_->status().pause_reason, "");
}

TEST_F(DaemonSlurmSubmitTest, AJobThatSlurmKilledForItsMemoryIsTriedTwiceWithMore) {
  config_.slurm.options = {{"mem", "32G"}};
  restart();
  const auto id = enqueue("a.mrc").id;
  give_options(id, {{"mem", "16G"}});
  std::vector<std::string> asked;
  for (int i = 0; i < 3; ++i) {
    ticks(2);
    const std::string script = attempt(id).script;
    asked.push_back(script.substr(script.find("--mem="), 9));
    std::ofstream(attempt(id).directory + "/job.log")
        << "slurmstepd: error: StepId=7.0 exceeded memory limit (9 > 8), being killed\n"
           "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-01-01T00:00:00 ***\n"
           "srun: error: n1: task 0: Killed\n";
    job_of(id).host = "n1";
    job_of(id).signal = 9;
    cluster_.end(attempt(id).token, slurm::JobState::kFailed, std::nullopt);
    ticks(1);
  }
  EXPECT_THAT(asked, ElementsAre("--mem=16G", "--mem=24G", "--mem=36G"));
  EXPECT_EQ(item(id).state, ItemState::kFailed);
  EXPECT_THAT(attempt(id).message, HasSubstr("exceeded memory limit"));
  EXPECT_THAT(attempt(id).explanation, HasSubstr("with --mem=36G, since the last one"));
  EXPECT_THAT(db::HostFailureStore(*database_).since(0), IsEmpty());
}

TEST_F(DaemonSlurmSubmitTest, MoreMemoryThanANodeHasPausesNothingAndIsAskedForOnce) {
  config_.slurm.options = {{"mem", "32G"}};
  restart();
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  cluster_.end(attempt(id).token, slurm::JobState::kOutOfMemory, std::nullopt);
  cluster_.faults = {Fault::kReject};
  cluster_.refusal = slurm::Refusal::kJob;
  cluster_.refusal_message = "Memory required by task is not available";
  ticks(1);
  EXPECT_THAT(attempt(id).script, HasSubstr("--mem=48G"));
  EXPECT_EQ(daemon_->status().pause_reason, "");
  ticks(2);
  EXPECT_THAT(attempt(id).script, HasSubstr("--mem=32G"));
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
}

TEST_F(DaemonSlurmSubmitTest, ATimeLimitStretchesTheNextTry) {
  config_.slurm.options = {{"time", "02:00:00"}};
  restart();
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  EXPECT_THAT(attempt(id).script, HasSubstr("--time=02:00:00"));
  cluster_.end(attempt(id).token, slurm::JobState::kTimeout, std::nullopt);
  ticks(2);
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_THAT(attempt(id).script, HasSubstr("--time=03:00:00"));
  EXPECT_THAT(attempt(id).explanation, HasSubstr("with --time=03:00:00"));
}

}  // namespace
}  // namespace scheduler
