// A database that was put back to an earlier state, on a cluster that queues and remembers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "db/backup.h"
#include "scheduler/files/restore_database.h"
#include "tests/unit/scheduler/daemon/slurm_fixture.h"

namespace scheduler {
namespace {

using db::AttemptState;
using db::ItemState;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class RestoredQueueTest : public SlurmFixture {
 protected:
  void copy() { db::copy_database(database_->connection(), copy_); }
  Restored restore() {
    daemon_.reset();
    commands_.reset();
    database_.reset();
    const Restored restored = restore_database(
        {.copy = copy_, .database = config_.database(), .jobs = config_.jobs()}, clock_.now());
    restart();
    return restored;
  }
  void look_again_and_again() {
    for (int i = 0; i < 5; ++i) {
      clock_.pass(std::chrono::seconds(10));
      ticks(1);
    }
  }

  const std::string copy_ = folder_.file("copy.db");
};

TEST_F(RestoredQueueTest, AJobThatWaitsIsFoundAndNotSubmittedAgain) {
  cluster_.first_state = slurm::JobState::kPending;
  const auto id = enqueue("a.mrc").id;
  copy();
  ticks(1);
  ASSERT_THAT(cluster_.requests, SizeIs(1));
  EXPECT_THAT(restore().looked_up, ElementsAre(id));
  look_again_and_again();
  EXPECT_THAT(cluster_.requests, SizeIs(1));
  EXPECT_THAT(cluster_.cancelled, IsEmpty());
  EXPECT_EQ(attempt(id).state, AttemptState::kPending);
  EXPECT_EQ(attempt(id).job_id, cluster_.jobs.at(0).job_id);
  cluster_.jobs.at(0).state = slurm::JobState::kRunning;
  ticks(1);
  finish(attempt(id));
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kDone);
  EXPECT_THAT(attempts(id), SizeIs(1));
}

TEST_F(RestoredQueueTest, AWideJobThatIsStillHeldIsReleased) {
  use_shape(Shape::kNodes);
  cluster_.releases = false;
  const auto id = enqueue("a.mrc").id;
  copy();
  ticks(2);
  ASSERT_TRUE(cluster_.jobs.at(0).held);
  restore();
  cluster_.releases = true;
  look_again_and_again();
  EXPECT_FALSE(cluster_.jobs.at(0).held);
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
  EXPECT_GT(attempt(id).nodes, 1);
  EXPECT_THAT(cluster_.requests, SizeIs(1));
}

TEST_F(RestoredQueueTest, AJobThatAccountingRemembersIsJudgedByItsRecord) {
  const auto id = enqueue("a.mrc").id;
  copy();
  ticks(1);
  slurm::JobStatus record = cluster_.jobs.at(0);
  record.state = slurm::JobState::kOutOfMemory;
  record.end_time = clock_.now();
  cluster_.jobs.clear();
  cluster_.accounting.push_back(record);
  restore();
  look_again_and_again();
  const auto made = attempts(id);
  ASSERT_FALSE(made.empty());
  EXPECT_EQ(made.front().state, AttemptState::kFailed);
  EXPECT_EQ(made.front().cause, "memory");
}

TEST_F(RestoredQueueTest, AJobThatNobodyRemembersIsFollowedByTheNextAttempt) {
  const auto id = enqueue("a.mrc").id;
  copy();
  ticks(1);
  cluster_.jobs.clear();
  restore();
  cluster_.complete = false;
  look_again_and_again();
  EXPECT_THAT(cluster_.requests, SizeIs(1)) << "without an answer nothing is concluded";
  cluster_.complete = true;
  for (int i = 0; i < 20; ++i) look_again_and_again();
  EXPECT_THAT(cluster_.requests, SizeIs(2));
  const auto made = attempts(id);
  ASSERT_THAT(made, SizeIs(2));
  EXPECT_EQ(made[0].state, AttemptState::kNeverStarted);
  EXPECT_EQ(made[1].number, 2);
}

TEST_F(RestoredQueueTest, TheJobOfAnItemThatTheCopyDoesNotKnowIsStopped) {
  enqueue("a.mrc");
  copy();
  enqueue("b.mrc");
  ticks(1);
  ASSERT_THAT(cluster_.requests, SizeIs(2));
  EXPECT_THAT(restore().unknown_items, ElementsAre(2));
  look_again_and_again();
  EXPECT_THAT(cluster_.requests, SizeIs(2));
  EXPECT_THAT(cluster_.cancelled, testing::Each(cluster_.jobs.at(1).job_id));
  EXPECT_THAT(cluster_.cancelled, testing::Not(IsEmpty()));
  EXPECT_EQ(enqueue("b.mrc").id, 3);
}

}  // namespace
}  // namespace scheduler
