#include "scheduler/states/clock_jumps.h"

#include <gtest/gtest.h>

namespace scheduler {
namespace {

TEST(ClockJumps, AClockThatIsSetIsNoticedOnceAndByHowMuch) {
  ClockJumps jumps;
  EXPECT_EQ(jumps.seconds({.wall_ms = 5'000'000, .boot_ms = 1000}), 0) << "nothing to compare with";
  EXPECT_EQ(jumps.seconds({.wall_ms = 5'010'000, .boot_ms = 11'000}), 0);
  EXPECT_EQ(jumps.seconds({.wall_ms = 8'611'000, .boot_ms = 12'000}), 3600);
  EXPECT_EQ(jumps.seconds({.wall_ms = 8'612'000, .boot_ms = 13'000}), 0);
  EXPECT_EQ(jumps.seconds({.wall_ms = 5'013'000, .boot_ms = 14'000}), -3600);
}

TEST(ClockJumps, ATimeServersSmallCorrectionsAreNoJumps) {
  ClockJumps jumps;
  for (int64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(jumps.seconds({.wall_ms = i * 2900, .boot_ms = i * 1000}), 0);
  }
}

}  // namespace
}  // namespace scheduler
