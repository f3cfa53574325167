#include "scheduler/states/circuit_breaker.h"

#include <gtest/gtest.h>

namespace scheduler {
namespace {

using db::AttemptState;
using std::chrono::minutes;

constexpr int64_t kMinute = 60'000;

class CircuitBreakerTest : public testing::Test {
 protected:
  // The wait after each of these many failures, in minutes.
  int64_t minutes_paused(int64_t now) const {
    int64_t waited = 0;
    while (!breaker_.pause(now + waited * kMinute).empty()) ++waited;
    return waited;
  }
  CircuitBreaker breaker_{
      {.first = minutes(1), .longest_configuration = minutes(10), .longest_launch = minutes(60)}};
};

TEST_F(CircuitBreakerTest, ATransientFaultEndsByItselfAndForEverybody) {
  breaker_.trip(SiteFault::kTransient, "the disk is full", "t", 0);
  EXPECT_EQ(breaker_.pause(0), "the disk is full");
  EXPECT_EQ(breaker_.problem(0), "the disk is full");
  EXPECT_EQ(breaker_.pause(kMinute), "");
  EXPECT_EQ(breaker_.problem(kMinute), "");
  EXPECT_FALSE(breaker_.is_probing());
}

TEST_F(CircuitBreakerTest, ALimitOfTheMomentEndsWhenAJobEndsAndAFullDiskDoesNot) {
  breaker_.reach_limit("too many jobs", 0);
  EXPECT_EQ(breaker_.pause(0), "too many jobs");
  breaker_.job_ended();
  EXPECT_EQ(breaker_.pause(0), "");
  breaker_.reach_limit("too many jobs", 0);
  EXPECT_EQ(breaker_.pause(kMinute), "") << "or with time";
  breaker_.trip(SiteFault::kTransient, "the disk is full", "t", 0);
  breaker_.job_ended();
  EXPECT_EQ(breaker_.pause(0), "the disk is full");
}

TEST_F(CircuitBreakerTest, TriesMoveApartUpToTheLimitOfTheirKind) {
  int64_t now = 0;
  std::vector<int64_t> waits;
  for (int i = 0; i < 6; ++i) {
    breaker_.trip(SiteFault::kConfiguration, "no such partition", "t", now);
    waits.push_back(minutes_paused(now));
    now += waits.back() * kMinute;
  }
  EXPECT_EQ(waits, (std::vector<int64_t>{1, 2, 4, 8, 10, 10}));
  for (int i = 0; i < 9; ++i) {
    breaker_.trip(SiteFault::kLaunch, "no engine", "t", now);
    now += minutes_paused(now) * kMinute;
  }
  breaker_.trip(SiteFault::kLaunch, "no engine", "t", now);
  EXPECT_EQ(minutes_paused(now), 60);
}

TEST_F(CircuitBreakerTest, JobsThatWereOnTheirWayAreNoTries) {
  for (int i = 0; i < 64; ++i) breaker_.trip(SiteFault::kLaunch, "no engine", "t", i);
  EXPECT_EQ(minutes_paused(0), 1);
}

TEST_F(CircuitBreakerTest, OneTriesAndTheRestWaitsForIt) {
  breaker_.trip(SiteFault::kConfiguration, "no such partition", "t1", 0);
  EXPECT_TRUE(breaker_.is_probing());
  breaker_.accepted("t2");
  EXPECT_EQ(breaker_.pause(100 * kMinute), "no such partition");
  breaker_.observe("t1", AttemptState::kRunning, true, "");
  breaker_.observe("t2", AttemptState::kPending, false, "");
  EXPECT_EQ(breaker_.pause(100 * kMinute), "no such partition") << "nobody has seen it";
  breaker_.observe("t2", AttemptState::kPending, true, "");
  EXPECT_EQ(breaker_.pause(0), "");
  EXPECT_FALSE(breaker_.is_probing());
}

TEST_F(CircuitBreakerTest, AnEngineThatMayNotStartMustBeSeenRunningTwice) {
  breaker_.trip(SiteFault::kLaunch, "no engine", "t1", 0);
  breaker_.accepted("t2");
  breaker_.observe("t2", AttemptState::kPending, true, "");
  breaker_.observe("t2", AttemptState::kRunning, true, "");
  EXPECT_TRUE(breaker_.is_probing());
  breaker_.observe("t2", AttemptState::kRunning, true, "");
  EXPECT_FALSE(breaker_.is_probing());
}

TEST_F(CircuitBreakerTest, OnlyADeviceThatWorksEndsAHardwareFault) {
  breaker_.trip(SiteFault::kHardware, "no driver", "t1", 0);
  breaker_.accepted("t2");
  for (int i = 0; i < 5; ++i) breaker_.observe("t2", AttemptState::kRunning, true, "");
  EXPECT_TRUE(breaker_.is_probing());
  breaker_.observe("t2", AttemptState::kFailed, true, "unknown");
  EXPECT_TRUE(breaker_.is_probing());
  EXPECT_EQ(breaker_.pause(kMinute), "") << "another one tries";
  EXPECT_TRUE(breaker_.device_works());
  EXPECT_FALSE(breaker_.is_probing());
  breaker_.trip(SiteFault::kLaunch, "no engine", "t3", kMinute);
  EXPECT_FALSE(breaker_.device_works()) << "another fault";
  EXPECT_TRUE(breaker_.is_probing());
}

TEST_F(CircuitBreakerTest, ATryThatNeverRanProvesNothingAndAnotherOneFollows) {
  breaker_.trip(SiteFault::kLaunch, "no engine", "t1", 0);
  breaker_.accepted("t2");
  breaker_.observe("t2", AttemptState::kNeverStarted, false, "never_started");
  EXPECT_TRUE(breaker_.is_probing());
  EXPECT_EQ(breaker_.pause(kMinute), "");
  breaker_.accepted("t3");
  breaker_.observe("t3", AttemptState::kFailed, true, "bad_input");
  EXPECT_FALSE(breaker_.is_probing()) << "the engine has run";
}

TEST_F(CircuitBreakerTest, AProbeThatIsGivenUpMakesRoomForAnotherOne) {
  breaker_.trip(SiteFault::kHardware, "no driver", "t1", 0);
  breaker_.accepted("t2");
  EXPECT_TRUE(breaker_.is_probe("t2"));
  EXPECT_FALSE(breaker_.give_up("t1")) << "no probe";
  EXPECT_EQ(breaker_.pause(kMinute), "no driver");
  EXPECT_TRUE(breaker_.give_up("t2"));
  EXPECT_EQ(breaker_.pause(kMinute), "");
  EXPECT_TRUE(breaker_.is_probing());
  EXPECT_FALSE(breaker_.is_probe(""));
  breaker_.accepted("t3");
  EXPECT_TRUE(breaker_.is_probe("t3"));
}

TEST_F(CircuitBreakerTest, AfterRetryNowOneIsTriedAtOnceAndThenWaitsFromTheBeginning) {
  for (const int64_t now : {int64_t{0}, kMinute, 3 * kMinute}) {
    breaker_.trip(SiteFault::kConfiguration, "token", "t", now);
  }
  breaker_.retry_now(4 * kMinute);
  EXPECT_EQ(breaker_.pause(4 * kMinute), "");
  EXPECT_EQ(breaker_.problem(4 * kMinute), "token");
  breaker_.trip(SiteFault::kConfiguration, "token", "t", 4 * kMinute);
  EXPECT_EQ(minutes_paused(4 * kMinute), 1);
}

TEST_F(CircuitBreakerTest, AReasonIsNewsOnceUntilAJobGotThrough) {
  EXPECT_TRUE(breaker_.trip(SiteFault::kConfiguration, "token", "t", 0));
  EXPECT_FALSE(breaker_.trip(SiteFault::kConfiguration, "token", "t", kMinute));
  EXPECT_TRUE(breaker_.trip(SiteFault::kConfiguration, "partition", "t", 9 * kMinute));
  breaker_.accepted("t2");
  breaker_.observe("t2", AttemptState::kPending, true, "");
  EXPECT_TRUE(breaker_.trip(SiteFault::kConfiguration, "partition", "t", 20 * kMinute));
}

}  // namespace
}  // namespace scheduler
