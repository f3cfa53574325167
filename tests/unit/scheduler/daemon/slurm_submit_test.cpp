// Submissions to a cluster that queues, holds, refuses and limits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "db/host_failures.h"
#include "scheduler/commands/read_snapshot.h"
#include "tests/unit/scheduler/daemon/slurm_fixture.h"

namespace scheduler {
namespace {

using db::AttemptState;
using db::ItemState;
using db::Priority;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Fault = tests::FakeCluster::Fault;

class DaemonSlurmSubmitTest : public SlurmFixture {};

TEST_F(DaemonSlurmSubmitTest, AJobHasItsDescriptionAndAnEnvironmentOfItsOwn) {
  const auto id = enqueue("a.mrc").id;
  ticks(1);
  ASSERT_THAT(cluster_.requests, SizeIs(1));
  EXPECT_THAT(cluster_.requests[0].comment, HasSubstr("\"item\":" + std::to_string(id)));
  EXPECT_EQ(cluster_.requests[0].environment.count("PATH"), 1u);
  EXPECT_FALSE(cluster_.requests[0].hold);
  EXPECT_EQ(attempt(id).gpus, 1);
  EXPECT_EQ(attempt(id).shape, "1 GPU");
}

TEST_F(DaemonSlurmSubmitTest, AWideJobIsSubmittedHeldAndReleasedWhenItsIdIsStored) {
  use_shape(Shape::kNodes);
  const auto id = enqueue("a.mrc").id;
  ticks(1);
  ASSERT_THAT(cluster_.requests, SizeIs(1));
  EXPECT_TRUE(cluster_.requests[0].hold);
  EXPECT_THAT(cluster_.released, ElementsAre(attempt(id).job_id));
  EXPECT_FALSE(attempt(id).release_due);
  EXPECT_EQ(attempt(id).shape, "4 nodes (16 GPUs)");
  ticks(2);
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
  EXPECT_THAT(cluster_.released, SizeIs(1));
}

TEST_F(DaemonSlurmSubmitTest, AReleaseThatFailedIsAskedAgainUntilItIsDone) {
  use_shape(Shape::kNodes);
  cluster_.releases = false;
  const auto id = enqueue("a.mrc").id;
  ticks(3);
  EXPECT_EQ(attempt(id).state, AttemptState::kPending);
  EXPECT_TRUE(attempt(id).release_due);
  EXPECT_THAT(cluster_.released, SizeIs(3));
  cluster_.releases = true;
  ticks(2);
  EXPECT_FALSE(attempt(id).release_due);
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
  EXPECT_THAT(cluster_.released, SizeIs(4));
}

TEST_F(DaemonSlurmSubmitTest, AStateThatNobodyKnowsIsNoProofOfARelease) {
  use_shape(Shape::kNodes);
  cluster_.releases = false;
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  cluster_.jobs[0].state = slurm::JobState::kUnknownAlive;
  cluster_.jobs[0].held = false;
  ticks(2);
  EXPECT_TRUE(attempt(id).release_due);
  cluster_.jobs[0].state = slurm::JobState::kPending;
  cluster_.jobs[0].held = true;
  cluster_.releases = true;
  ticks(2);
  EXPECT_FALSE(attempt(id).release_due);
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
}

TEST_F(DaemonSlurmSubmitTest, AnAdoptedWideJobIsReleased) {
  use_shape(Shape::kNodes);
  cluster_.faults = {Fault::kAcceptAndLoseAnswer};
  const auto id = enqueue("a.mrc").id;
  ticks(4);
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
  EXPECT_THAT(cluster_.requests, SizeIs(1));
  EXPECT_THAT(cluster_.released, ElementsAre(attempt(id).job_id));
}

TEST_F(DaemonSlurmSubmitTest, AJobHeldBySomebodyElseStaysHeld) {
  use_shape(Shape::kNodes);
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  job_of(id).held = true;
  job_of(id).state = slurm::JobState::kPending;
  job_of(id).reason = "JobHeldAdmin";
  ticks(5);
  EXPECT_THAT(cluster_.released, SizeIs(1)) << "only ours";
  EXPECT_EQ(attempt(id).state, AttemptState::kPending);
  EXPECT_EQ(attempt(id).cluster_reason, "JobHeldAdmin");
}

TEST_F(DaemonSlurmSubmitTest, ABusyClusterIsLeftAloneForAWhileAndNothingIsCounted) {
  cluster_.faults = {Fault::kReject};
  cluster_.refusal = slurm::Refusal::kBusy;
  cluster_.refusal_message = "Job violates accounting/QOS policy (job submit limit)";
  const auto first = enqueue("a.mrc").id;
  const auto second = enqueue("b.mrc").id;
  ticks(20);
  EXPECT_THAT(cluster_.requests, SizeIs(1));
  EXPECT_THAT(daemon_->status().pause_reason, HasSubstr("job submit limit"));
  EXPECT_EQ(item(first).state, ItemState::kQueued);
  EXPECT_EQ(attempt(first).cause, "busy");
  clock_.pass(seconds(60));
  ticks(2);
  EXPECT_EQ(daemon_->status().pause_reason, "");
  EXPECT_EQ(item(first).state, ItemState::kActive);
  EXPECT_EQ(item(second).state, ItemState::kActive);
}

TEST_F(DaemonSlurmSubmitTest,
       ABadConfigurationPausesSubmissionsIsLoggedOnceAndRetriedEverLessOften) {
  cluster_.faults.assign(1000, Fault::kReject);
  cluster_.refusal_message = "Invalid qos specification";
  const auto ids = enqueue_many(3);
  std::vector<int> tried_at;
  for (int second = 0; second < 3600; ++second) {
    const size_t before = cluster_.requests.size();
    ticks(1);
    if (cluster_.requests.size() > before) tried_at.push_back(second);
  }
  EXPECT_THAT(tried_at, ElementsAre(0, 60, 180, 420, 900, 1500, 2100, 2700, 3300));
  EXPECT_THAT(cluster_.requests, SizeIs(9)) << "one at a time";
  EXPECT_EQ(count_logged("Invalid qos specification"), 2) << "the attempt, and the circuit breaker";
  EXPECT_THAT(daemon_->status().pause_reason, HasSubstr("Invalid qos specification"));
  for (const auto id : ids) EXPECT_EQ(item(id).state, ItemState::kQueued);
}

TEST_F(DaemonSlurmSubmitTest, AfterARefusalOneJobTriesAndTheOthersFollowIt) {
  cluster_.faults = {Fault::kReject};
  const auto ids = enqueue_many(4);
  ticks(1);
  EXPECT_THAT(cluster_.requests, SizeIs(1));
  clock_.pass(seconds(60));
  ticks(1);
  EXPECT_THAT(cluster_.requests, SizeIs(2));
  EXPECT_THAT(daemon_->status().pause_reason, HasSubstr("no such partition")) << "not proven yet";
  ticks(1);
  EXPECT_THAT(cluster_.requests, SizeIs(5));
  EXPECT_EQ(daemon_->status().pause_reason, "");
}

TEST_F(DaemonSlurmSubmitTest, ARefusedConfigurationIsTriedAtOnceWhenTheClusterIsBack) {
  cluster_.faults = {Fault::kReject};
  cluster_.refusal_message = "the token has expired";
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  cluster_.complete = false;
  ticks(2);
  EXPECT_THAT(cluster_.requests, SizeIs(1));
  cluster_.complete = true;
  ticks(1);
  EXPECT_THAT(cluster_.requests, SizeIs(2));
  EXPECT_EQ(item(id).state, ItemState::kActive);
}

TEST_F(DaemonSlurmSubmitTest, OptionsThatTheClusterCannotGiveFailTheirItemAlone) {
  const auto greedy = enqueue("a.mrc").id;
  const auto modest = enqueue("b.mrc").id;
  give_options(greedy, {{"nodes", "400"}});
  cluster_.faults = {Fault::kReject};
  cluster_.refusal = slurm::Refusal::kJob;
  cluster_.refusal_message = "More nodes requested than available";
  ticks(2);
  EXPECT_EQ(item(greedy).state, ItemState::kFailed);
  EXPECT_EQ(attempt(greedy).cause, "options");
  EXPECT_THAT(item(greedy).reason, HasSubstr("More nodes requested than available"));
  EXPECT_EQ(item(modest).state, ItemState::kActive);
  EXPECT_EQ(daemon_->status().pause_reason, "");
}

TEST_F(DaemonSlurmSubmitTest, OptionsThatContradictEachOtherFailTheirItemBeforeItIsSubmitted) {
  const auto id = enqueue("a.mrc").id;
  give_options(id, {{"gpus-per-task", "1"}});
  const auto other = enqueue("b.mrc").id;
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kFailed);
  EXPECT_THAT(item(id).reason, HasSubstr("gpus-per-task"))
      << daemon_->status().pause_reason << daemon_->status().problem;
  EXPECT_EQ(item(other).state, ItemState::kActive);
}

TEST_F(DaemonSlurmSubmitTest, SubmissionsLeaveSomeOfTheRequestsToOthers) {
  cluster_.counts_requests = true;
  cluster_.requests_left = 5;
  enqueue_many(8);
  ticks(3);
  EXPECT_THAT(cluster_.requests, SizeIs(3));
  EXPECT_EQ(daemon_->status().problem, "");
  cluster_.requests_left = 4;
  ticks(1);
  EXPECT_THAT(cluster_.requests, SizeIs(5));
}

TEST_F(DaemonSlurmSubmitTest, OnlyAFewJobsOfEachClassWaitInTheClustersQueue) {
  config_.slurm.max_jobs = 64;
  restart();
  cluster_.first_state = slurm::JobState::kPending;
  const auto ids = enqueue_many(7);
  const auto urgent = enqueue("urgent.mrc", Priority::kUrgent).id;
  ticks(3);
  EXPECT_THAT(cluster_.requests, SizeIs(5));
  EXPECT_EQ(item(urgent).state, ItemState::kActive);
  EXPECT_EQ(explained(ids[4]),
            "waits: 4 jobs of class normal wait in Slurm already; next in the queue; 5 of 64 jobs "
            "in Slurm");
  job_of(ids[0]).state = slurm::JobState::kRunning;
  ticks(1);
  EXPECT_THAT(cluster_.requests, SizeIs(6));
}

// A node with as much memory is free in hours; the next job of another user may start at once.
TEST_F(DaemonSlurmSubmitTest, OneUsersLargeJobsThatWaitForTheirRoomStopNobodyElse) {
  config_.slurm.max_jobs = 64;
  restart();
  cluster_.first_state = slurm::JobState::kPending;
  for (int i = 0; i < 5; ++i) {
    give_options(enqueue("large" + std::to_string(i) + ".mrc").id, {{"mem", "900G"}});
  }
  ticks(2);
  EXPECT_THAT(cluster_.requests, SizeIs(4)) << "as many as wait of a class";
  for (slurm::JobStatus& job : cluster_.jobs) job.reason = "Resources";
  user_ = {.uid = 2000, .name = "bob"};
  const auto plain = enqueue("plain.mrc").id;
  const auto large = enqueue("large.mrc").id;
  give_options(large, {{"mem", "900G"}});
  ticks(1);
  EXPECT_EQ(item(plain).state, ItemState::kActive);
  EXPECT_EQ(item(large).state, ItemState::kActive) << "each owner may have one";
}

TEST_F(DaemonSlurmSubmitTest, OneUsersJobsThatCannotStartStopNobodyElse) {
  config_.slurm.max_jobs = 64;
  restart();
  cluster_.first_state = slurm::JobState::kPending;
  const std::vector<std::pair<std::string, std::string>> stuck = {
      {"BeginTime", "begin"},
      {"PartitionDown", "partition"},
      {"PartitionTimeLimit", "time"},
      {"QOSMaxJobsPerUserLimit", "qos"}};
  std::vector<int64_t> ids;
  for (size_t i = 0; i < stuck.size(); ++i) {
    ids.push_back(enqueue(std::to_string(i) + ".mrc").id);
    give_options(ids.back(), {{stuck[i].second, "1"}});
    ticks(1);
    job_of(ids.back()).reason = stuck[i].first;
    job_of(ids.back()).words = "PENDING";
    ticks(1);
  }
  user_ = {.uid = 2000, .name = "bob"};
  const auto plain = enqueue("plain.mrc").id;
  ticks(1);
  EXPECT_EQ(item(plain).state, ItemState::kActive);
  const auto own = enqueue("own.mrc").id;
  give_options(own, {{"time", "1"}});
  ticks(1);
  EXPECT_EQ(item(own).state, ItemState::kActive) << "another user's";
  user_ = {.uid = 1000, .name = "ann"};
  const auto more = enqueue("more.mrc").id;
  give_options(more, {{"begin", "1"}});
  const auto modest = enqueue("modest.mrc").id;
  ticks(2);
  EXPECT_EQ(item(more).state, ItemState::kQueued) << "she has enough that cannot start";
  EXPECT_EQ(item(modest).state, ItemState::kActive);
  EXPECT_THAT(explained(more), HasSubstr("4 jobs of its owner"));
  EXPECT_THAT(explained(ids[0]), HasSubstr("start time"));
  EXPECT_THAT(explained(ids[1]), HasSubstr("partition is closed"));
}

TEST_F(DaemonSlurmSubmitTest, AClosedPartitionOfTheSiteFillsUpWithAFewJobsOnly) {
  config_.slurm.max_jobs = 64;
  restart();
  cluster_.first_state = slurm::JobState::kPending;
  enqueue_many(20);
  ticks(1);
  for (int i = 0; i < 5; ++i) {
    for (auto& job : cluster_.jobs) job.reason = "PartitionDown";
    ticks(1);
  }
  EXPECT_THAT(cluster_.requests, SizeIs(4));
  for (auto& job : cluster_.jobs) job.reason = "PartitionTimeLimit";
  ticks(3);
  EXPECT_THAT(cluster_.requests, SizeIs(4)) << "the next could not start either";
  for (auto& job : cluster_.jobs) job.reason = "JobHeldAdmin";
  ticks(3);
  EXPECT_THAT(cluster_.requests, SizeIs(8)) << "held jobs are no reason to wait";
}

TEST_F(DaemonSlurmSubmitTest, NothingIsSubmittedWhileNobodyKnowsWhatBecameOfTheLastJob) {
  cluster_.faults = {Fault::kAcceptAndLoseAnswer};
  enqueue_many(3);
  ticks(1);
  EXPECT_THAT(cluster_.requests, SizeIs(1));
  for (int i = 0; i < 5; ++i) tick_between_snapshots();
  EXPECT_THAT(cluster_.requests, SizeIs(1));
  ticks(1);
  EXPECT_THAT(cluster_.requests, SizeIs(3));
}

TEST_F(DaemonSlurmSubmitTest, BetweenPicturesJobsAreSubmittedOnceEach) {
  ticks(1);
  enqueue_many(3);
  for (int i = 0; i < 5; ++i) tick_between_snapshots();
  EXPECT_THAT(cluster_.requests, SizeIs(3));
  EXPECT_THAT(cluster_.cancelled, IsEmpty());
}

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
