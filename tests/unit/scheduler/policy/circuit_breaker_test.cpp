#include "scheduler/policy/circuit_breaker.h"

#include <gtest/gtest.h>

namespace scheduler {
namespace {

using db::AttemptState;
using std::chrono::minutes;

constexpr int64_t kMinute = 60'000;

class LaneTest : public testing::Test {
 protected:
  // The wait after each of these many failures, in minutes.
  int64_t minutes_closed(int64_t now) const {
    int64_t waited = 0;
    while (!lane_.closed(now + waited * kMinute).empty()) ++waited;
    return waited;
  }
  Lane lane_{
      {.first = minutes(1), .longest_configuration = minutes(10), .longest_launch = minutes(60)}};
};

TEST_F(LaneTest, ARestEndsByItselfAndForEverybody) {
  lane_.stop(LaneStop::kRest, "the disk is full", "t", 0);
  EXPECT_EQ(lane_.closed(0), "the disk is full");
  EXPECT_EQ(lane_.sentence(0), "the disk is full");
  EXPECT_EQ(lane_.closed(kMinute), "");
  EXPECT_EQ(lane_.sentence(kMinute), "");
  EXPECT_FALSE(lane_.only_one());
}

TEST_F(LaneTest, TriesMoveApartUpToTheLimitOfTheirKind) {
  int64_t now = 0;
  std::vector<int64_t> waits;
  for (int i = 0; i < 6; ++i) {
    lane_.stop(LaneStop::kConfiguration, "no such partition", "t", now);
    waits.push_back(minutes_closed(now));
    now += waits.back() * kMinute;
  }
  EXPECT_EQ(waits, (std::vector<int64_t>{1, 2, 4, 8, 10, 10}));
  for (int i = 0; i < 9; ++i) {
    lane_.stop(LaneStop::kLaunch, "no engine", "t", now);
    now += minutes_closed(now) * kMinute;
  }
  lane_.stop(LaneStop::kLaunch, "no engine", "t", now);
  EXPECT_EQ(minutes_closed(now), 60);
}

TEST_F(LaneTest, JobsThatWereOnTheirWayAreNoTries) {
  for (int i = 0; i < 64; ++i) lane_.stop(LaneStop::kLaunch, "no engine", "t", i);
  EXPECT_EQ(minutes_closed(0), 1);
}

TEST_F(LaneTest, OneTriesAndTheRestWaitsForIt) {
  lane_.stop(LaneStop::kConfiguration, "no such partition", "t1", 0);
  EXPECT_TRUE(lane_.only_one());
  lane_.accepted("t2");
  EXPECT_EQ(lane_.closed(100 * kMinute), "no such partition");
  lane_.saw("t1", AttemptState::kRunning, true, "");
  lane_.saw("t2", AttemptState::kPending, false, "");
  EXPECT_EQ(lane_.closed(100 * kMinute), "no such partition") << "nobody has seen it";
  lane_.saw("t2", AttemptState::kPending, true, "");
  EXPECT_EQ(lane_.closed(0), "");
  EXPECT_FALSE(lane_.only_one());
}

TEST_F(LaneTest, AnEngineThatMayNotStartMustBeSeenRunningTwice) {
  lane_.stop(LaneStop::kLaunch, "no engine", "t1", 0);
  lane_.accepted("t2");
  lane_.saw("t2", AttemptState::kPending, true, "");
  lane_.saw("t2", AttemptState::kRunning, true, "");
  EXPECT_TRUE(lane_.only_one());
  lane_.saw("t2", AttemptState::kRunning, true, "");
  EXPECT_FALSE(lane_.only_one());
}

TEST_F(LaneTest, ATryThatNeverRanProvesNothingAndAnotherOneFollows) {
  lane_.stop(LaneStop::kLaunch, "no engine", "t1", 0);
  lane_.accepted("t2");
  lane_.saw("t2", AttemptState::kNeverStarted, false, "never_started");
  EXPECT_TRUE(lane_.only_one());
  EXPECT_EQ(lane_.closed(kMinute), "");
  lane_.accepted("t3");
  lane_.saw("t3", AttemptState::kFailed, true, "bad_input");
  EXPECT_FALSE(lane_.only_one()) << "the engine has run";
}

TEST_F(LaneTest, WhatMayBeMendedIsTriedAtOnceAndThenWaitsFromTheBeginning) {
  for (const int64_t now : {int64_t{0}, kMinute, 3 * kMinute}) {
    lane_.stop(LaneStop::kConfiguration, "token", "t", now);
  }
  lane_.may_be_mended(4 * kMinute);
  EXPECT_EQ(lane_.closed(4 * kMinute), "");
  EXPECT_EQ(lane_.sentence(4 * kMinute), "token");
  lane_.stop(LaneStop::kConfiguration, "token", "t", 4 * kMinute);
  EXPECT_EQ(minutes_closed(4 * kMinute), 1);
}

TEST_F(LaneTest, ASentenceIsNewsOnceUntilAJobGotThrough) {
  EXPECT_TRUE(lane_.stop(LaneStop::kConfiguration, "token", "t", 0));
  EXPECT_FALSE(lane_.stop(LaneStop::kConfiguration, "token", "t", kMinute));
  EXPECT_TRUE(lane_.stop(LaneStop::kConfiguration, "partition", "t", 9 * kMinute));
  lane_.accepted("t2");
  lane_.saw("t2", AttemptState::kPending, true, "");
  EXPECT_TRUE(lane_.stop(LaneStop::kConfiguration, "partition", "t", 20 * kMinute));
}

}  // namespace
}  // namespace scheduler
