// Submissions to a cluster that queues, holds and limits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/daemon/slurm_submit_fixture.h"

namespace scheduler {
namespace {

using db::AttemptState;
using db::ItemState;
using db::Priority;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Fault = tests::FakeCluster::Fault;

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

}  // namespace
}  // namespace scheduler
