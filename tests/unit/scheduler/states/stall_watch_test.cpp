#include "scheduler/states/stall_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace scheduler {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;

class StallWatchTest : public testing::Test {
 protected:
  std::string after(std::chrono::milliseconds time, const std::optional<ProgressSeen>& progress) {
    now_ms_ += time.count();
    return watch_.look(1, progress, now_ms_);
  }
  // Looks every ten seconds. Returns how long it took until the search counted as stalled.
  std::chrono::seconds still(const std::optional<ProgressSeen>& progress) {
    for (seconds time{10}; time < std::chrono::hours(24); time += seconds(10)) {
      if (!after(seconds(10), progress).empty()) return time;
    }
    return seconds(0);
  }
  static ProgressSeen running(int64_t done) { return {.done = done, .state = "running"}; }

  StallWatch watch_{minutes(10)};
  int64_t now_ms_ = 1'700'000'000'000;
};

TEST_F(StallWatchTest, ASearchThatMovesNeverStalls) {
  for (int64_t done = 0; done < 1000; ++done) EXPECT_THAT(after(minutes(2), running(done)), "");
}

TEST_F(StallWatchTest, ASearchWithShortBatchesStallsAfterTheFloor) {
  for (int64_t done = 0; done < 10; ++done) after(seconds(10), running(done));
  EXPECT_EQ(still(running(9)), minutes(10));
  EXPECT_THAT(after(seconds(0), running(9)),
              HasSubstr("no progress for 600 s, many times as long as its longest batch (10 s)"));
}

TEST_F(StallWatchTest, ASearchWithLongBatchesStallsAfterTenTimesTheLongest) {
  after(seconds(0), running(0));
  for (int i = 0; i < 18; ++i) ASSERT_THAT(after(seconds(10), running(0)), IsEmpty());
  after(seconds(10), running(1));
  EXPECT_EQ(still(running(1)), seconds(1900));
}

TEST_F(StallWatchTest, AStartMayTakeTwiceTheFloorAndWritingTenTimes) {
  after(seconds(0), std::nullopt);
  EXPECT_EQ(still(std::nullopt), minutes(20));
  after(seconds(10), ProgressSeen{.done = 9, .state = "writing"});
  EXPECT_EQ(still(ProgressSeen{.done = 9, .state = "writing"}), minutes(100));
}

TEST_F(StallWatchTest, AReportThatWasSeenAndIsGoneIsNoStallAndWhenItIsBackTheTimeBeginsAnew) {
  after(seconds(0), running(1));
  EXPECT_EQ(still(std::nullopt), seconds(0)) << "never";
  EXPECT_EQ(still(running(1)), minutes(10));
}

TEST_F(StallWatchTest, ALongGapBetweenTwoLooksIsNoStall) {
  after(seconds(0), running(1));
  EXPECT_THAT(after(std::chrono::hours(100), running(1)), IsEmpty());
  EXPECT_THAT(after(-std::chrono::hours(200), running(1)), IsEmpty());
  EXPECT_EQ(still(running(1)), seconds(450));
}

TEST_F(StallWatchTest, AForgottenSearchBeginsAnew) {
  after(seconds(0), running(1));
  still(running(1));
  watch_.forget(1);
  EXPECT_THAT(after(seconds(10), running(1)), IsEmpty());
}

TEST_F(StallWatchTest, WithoutAFloorNothingStalls) {
  StallWatch off{seconds(0)};
  for (int64_t now = 0; now < 1'000'000'000; now += 1'000'000) {
    EXPECT_THAT(off.look(1, std::nullopt, now), IsEmpty());
  }
}

}  // namespace
}  // namespace scheduler
