// The groups share the GPUs by what the attempts in the database have used.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/scheduler/daemon/daemon_fixture.h"

namespace scheduler {
namespace {

using db::ItemState;
using std::chrono::hours;
using testing::HasSubstr;
using testing::Not;

class DaemonGroupsTest : public DaemonFixture {
 protected:
  DaemonGroupsTest() {
    config_.local.slots = 1;
    restart();
  }
  int64_t enqueue_for(const std::string& group, const std::string& name) {
    user_.group = [group] { return group; };
    return enqueue(name).id;
  }
  void run_for(int64_t id, hours time) {
    ASSERT_EQ(item(id).state, ItemState::kActive);
    db::Attempt attempt = this->attempt(id);
    attempt.started = clock_.now();
    ASSERT_TRUE(db::AttemptStore(*database_).update(attempt));
    clock_.pass(time);
    finish(attempt);
  }
};

TEST_F(DaemonGroupsTest, TheGroupThatHasUsedLessGoesFirst) {
  const auto first = enqueue_for("kim", "a.mrc");
  ticks(1);
  const auto second = enqueue_for("kim", "b.mrc");
  const auto third = enqueue_for("lee", "c.mrc");
  run_for(first, hours(2));
  ticks(1);
  EXPECT_EQ(item(third).state, ItemState::kActive);
  EXPECT_THAT(explained(second),
              HasSubstr("group lee goes first, since it has used less (0.0 against "
                        "2.0 GPU hours"));
  const auto fourth = enqueue_for("lee", "d.mrc");
  run_for(third, hours(5));
  ticks(1);
  EXPECT_EQ(item(second).state, ItemState::kActive);
  EXPECT_THAT(explained(fourth), HasSubstr("group kim goes first, since it has used less (2.0 "
                                           "against 5.0 GPU hours"));
}

// Both groups' jobs have run since before the daemon first looked at what was used.
TEST_F(DaemonGroupsTest, AJobThatEndsWhileTheDaemonRunsCounts) {
  config_.local.slots = 2;
  restart();
  const auto first = enqueue_for("kim", "a.mrc");
  const auto second = enqueue_for("lee", "b.mrc");
  ticks(2);
  const auto third = enqueue_for("kim", "c.mrc");
  const auto fourth = enqueue_for("lee", "d.mrc");
  const auto fifth = enqueue_for("lee", "e.mrc");
  run_for(first, hours(5));
  run_for(second, hours(1));
  ticks(1);
  EXPECT_EQ(item(fourth).state, ItemState::kActive);
  EXPECT_EQ(item(fifth).state, ItemState::kActive) << "an hour and the mean are less than six";
  EXPECT_THAT(explained(third), HasSubstr("(1.0 against 6.0 GPU hours"))
      << "the end of the first was seen an hour later";
}

// Such items, and all attempts at them, are of the time before groups were kept.
TEST_F(DaemonGroupsTest, ItemsWithoutAGroupDoNotGoLastForWhatAllHaveUsed) {
  const auto first = enqueue_for("", "a.mrc");
  ticks(1);
  run_for(first, hours(100));
  const auto kims = enqueue_for("kim", "b.mrc");
  ticks(1);
  run_for(kims, hours(1));
  const auto old = enqueue_for("", "c.mrc");
  enqueue_for("kim", "d.mrc");
  ticks(1);
  EXPECT_EQ(item(old).state, ItemState::kActive);
}

TEST_F(DaemonGroupsTest, WhatWasUsedWhileTheClockWasAheadCountsAsUsedNow) {
  clock_.set_by(hours(24 * 400));
  const auto first = enqueue_for("kim", "a.mrc");
  ticks(1);
  run_for(first, hours(2));
  enqueue_for("lee", "b.mrc");
  ticks(1);
  clock_.set_by(-hours(24 * 400));
  run_for(2, hours(1));
  enqueue_for("kim", "c.mrc");
  ticks(1);
  run_for(3, hours(3));
  const auto kims = enqueue_for("kim", "d.mrc");
  enqueue_for("lee", "e.mrc");
  ticks(1);
  EXPECT_EQ(item(5).state, ItemState::kActive);
  EXPECT_THAT(explained(kims), HasSubstr("(1.0 against 5.0 GPU hours"));
}

TEST_F(DaemonGroupsTest, WhatWasUsedIsKnownAfterARestart) {
  const auto first = enqueue_for("kim", "a.mrc");
  ticks(1);
  run_for(first, hours(2));
  ticks(1);
  restart();
  const auto second = enqueue_for("kim", "b.mrc");
  const auto third = enqueue_for("lee", "c.mrc");
  ticks(1);
  EXPECT_EQ(item(second).state, ItemState::kQueued);
  EXPECT_EQ(item(third).state, ItemState::kActive);
}

TEST_F(DaemonGroupsTest, AShareOfTheConfigurationCounts) {
  config_.policy.shares = {{"kim", 10}};
  restart();
  const auto first = enqueue_for("kim", "a.mrc");
  ticks(1);
  run_for(first, hours(5));
  const auto second = enqueue_for("lee", "b.mrc");
  ticks(1);
  run_for(second, hours(1));
  const auto third = enqueue_for("lee", "c.mrc");
  const auto fourth = enqueue_for("kim", "d.mrc");
  ticks(1);
  EXPECT_EQ(item(fourth).state, ItemState::kActive);
  EXPECT_THAT(explained(third), HasSubstr("has used less for its share (0.5 against 1.0 GPU hours "
                                          "for a share of 1"));
}

TEST_F(DaemonGroupsTest, ItemsOfOneGroupAreExplainedWithoutIt) {
  const auto first = enqueue_for("kim", "a.mrc");
  const auto second = enqueue_for("kim", "b.mrc");
  ticks(1);
  EXPECT_THAT(attempt(first).explanation, Not(HasSubstr("group")));
  EXPECT_THAT(explained(second), Not(HasSubstr("group")));
}

}  // namespace
}  // namespace scheduler
