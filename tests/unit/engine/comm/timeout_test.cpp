// What counts as waiting.
#include "engine/comm/timeout.h"

#include <gtest/gtest.h>

namespace engine::comm {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class PatienceTest : public testing::Test {
 protected:
  Patience of(milliseconds length) {
    return Patience(
        length, [this] { return of_no_use_; }, [this] { return now_; });
  }
  // Waits as long as it says at most; how long it was told to.
  milliseconds wait(Patience& patience) {
    const auto time = patience.next_look() - now_;
    now_ += time;
    return std::chrono::duration_cast<milliseconds>(time);
  }

  Patience::Clock::time_point now_{hours(7)};
  bool of_no_use_ = false;
};

TEST_F(PatienceTest, EndsWhenItsTimeIsOver) {
  Patience patience = of(milliseconds(600));
  EXPECT_EQ(wait(patience), milliseconds(250));
  EXPECT_EQ(wait(patience), milliseconds(250));
  EXPECT_FALSE(patience.ended());
  EXPECT_EQ(wait(patience), milliseconds(100));
  EXPECT_TRUE(patience.ended());
  EXPECT_EQ(wait(patience), milliseconds(0));
}

TEST_F(PatienceTest, IsAsLongWhereEachLookComesEarly) {
  Patience patience = of(seconds(1));
  for (int i = 0; i < 999; ++i) {
    now_ += milliseconds(1);
    ASSERT_FALSE(patience.ended()) << i;
  }
  now_ += milliseconds(1);
  EXPECT_TRUE(patience.ended());
}

TEST_F(PatienceTest, DoesNotCountTheTimeInWhichTheProcessWasSuspended) {
  Patience patience = of(seconds(2));
  wait(patience);
  now_ += hours(5);
  EXPECT_FALSE(patience.ended());
  for (int i = 0; i < 7; ++i) wait(patience);
  EXPECT_TRUE(patience.ended());
}

TEST_F(PatienceTest, CountsACallThatCannotBeEnded) {
  Patience patience = of(seconds(2));
  now_ += seconds(3);
  patience.spend(seconds(3));
  EXPECT_TRUE(patience.ended());
}

TEST_F(PatienceTest, BeginsAnewWhenSomethingComes) {
  Patience patience = of(milliseconds(300));
  wait(patience);
  patience.renew();
  wait(patience);
  EXPECT_FALSE(patience.ended());
  wait(patience);
  EXPECT_TRUE(patience.ended());
}

TEST_F(PatienceTest, EndsAtOnceWhenItIsOfNoUseAnyMore) {
  Patience patience = of(hours(1));
  EXPECT_FALSE(patience.ended());
  of_no_use_ = true;
  EXPECT_TRUE(patience.ended());
}

}  // namespace
}  // namespace engine::comm
