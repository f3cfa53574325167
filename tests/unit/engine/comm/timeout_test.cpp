// What counts as waiting.
#include "engine/comm/timeout.h"

#include <gtest/gtest.h>

namespace engine::comm {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class TimeoutTest : public testing::Test {
 protected:
  Timeout of(milliseconds length) {
    return Timeout(
        length, [this] { return is_cancelled_; }, [this] { return now_; });
  }
  // Waits as long as it says at most; how long it was asked to.
  milliseconds wait(Timeout& timeout) {
    const auto time = timeout.next_check() - now_;
    now_ += time;
    return std::chrono::duration_cast<milliseconds>(time);
  }

  Timeout::Clock::time_point now_{hours(7)};
  bool is_cancelled_ = false;
};

TEST_F(TimeoutTest, EndsWhenItsTimeIsOver) {
  Timeout timeout = of(milliseconds(600));
  EXPECT_EQ(wait(timeout), milliseconds(250));
  EXPECT_EQ(wait(timeout), milliseconds(250));
  EXPECT_FALSE(timeout.expired());
  EXPECT_EQ(wait(timeout), milliseconds(100));
  EXPECT_TRUE(timeout.expired());
  EXPECT_EQ(wait(timeout), milliseconds(0));
}

TEST_F(TimeoutTest, IsAsLongWhereEachLookComesEarly) {
  Timeout timeout = of(seconds(1));
  for (int i = 0; i < 999; ++i) {
    now_ += milliseconds(1);
    ASSERT_FALSE(timeout.expired()) << i;
  }
  now_ += milliseconds(1);
  EXPECT_TRUE(timeout.expired());
}

TEST_F(TimeoutTest, DoesNotCountTheTimeInWhichTheProcessWasSuspended) {
  Timeout timeout = of(seconds(2));
  wait(timeout);
  now_ += hours(5);
  EXPECT_FALSE(timeout.expired());
  for (int i = 0; i < 7; ++i) wait(timeout);
  EXPECT_TRUE(timeout.expired());
}

TEST_F(TimeoutTest, CountsACallThatCannotBeEnded) {
  Timeout timeout = of(seconds(2));
  now_ += seconds(3);
  timeout.charge(seconds(3));
  EXPECT_TRUE(timeout.expired());
}

TEST_F(TimeoutTest, StartsAgainWhenSomethingComes) {
  Timeout timeout = of(milliseconds(300));
  wait(timeout);
  timeout.restart();
  wait(timeout);
  EXPECT_FALSE(timeout.expired());
  wait(timeout);
  EXPECT_TRUE(timeout.expired());
}

TEST_F(TimeoutTest, EndsAtOnceWhenItIsCancelled) {
  Timeout timeout = of(hours(1));
  EXPECT_FALSE(timeout.expired());
  is_cancelled_ = true;
  EXPECT_TRUE(timeout.expired());
}

}  // namespace
}  // namespace engine::comm
