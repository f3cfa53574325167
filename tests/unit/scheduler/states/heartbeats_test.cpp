#include "scheduler/states/heartbeats.h"

#include <gtest/gtest.h>

namespace scheduler {
namespace {

TEST(Heartbeats, AnOldFileHasBeenSilentSinceItWasWritten) {
  Heartbeats beats;
  EXPECT_EQ(beats.silent_ms(1, 7000, {.wall_ms = 10'000, .boot_ms = 500}), 3000);
  EXPECT_EQ(beats.silent_ms(1, 7000, {.wall_ms = 12'000, .boot_ms = 2500}), 5000);
  EXPECT_EQ(beats.silent_ms(2, 11'000, {.wall_ms = 12'000, .boot_ms = 2500}), 1000)
      << "each attempt for itself";
}

TEST(Heartbeats, AFileOfTheFutureCountsFromWhenItWasSeenAndIsNotAliveForEver) {
  Heartbeats beats;
  constexpr int64_t kFuture = 1'000'000'000;
  EXPECT_EQ(beats.silent_ms(1, kFuture, {.wall_ms = 10'000, .boot_ms = 0}), 0);
  EXPECT_EQ(beats.silent_ms(1, kFuture, {.wall_ms = 70'000, .boot_ms = 60'000}), 60'000);
  EXPECT_EQ(beats.silent_ms(1, kFuture + 1, {.wall_ms = 80'000, .boot_ms = 70'000}), 0)
      << "written again";
}

TEST(Heartbeats, AWallClockThatIsSetWhileAFileIsWatchedMakesItNeitherOlderNorYounger) {
  Heartbeats beats;
  beats.silent_ms(1, 10'000, {.wall_ms = 10'000, .boot_ms = 0});
  constexpr int64_t kDay = 86'400'000;
  EXPECT_EQ(beats.silent_ms(1, 10'000, {.wall_ms = 15'000 + kDay, .boot_ms = 5000}), 5000);
  EXPECT_EQ(beats.silent_ms(1, 12'000, {.wall_ms = 16'000 + kDay, .boot_ms = 6000}), 1000)
      << "written since the last look, by a machine whose clock was not set";
  EXPECT_EQ(beats.silent_ms(1, 12'000, {.wall_ms = 9000 - kDay, .boot_ms = 7000}), 2000);
}

TEST(Heartbeats, WhatIsForgottenBeginsAnew) {
  Heartbeats beats;
  beats.silent_ms(1, 99'000, {.wall_ms = 10'000, .boot_ms = 0});
  beats.forget(1);
  EXPECT_EQ(beats.silent_ms(1, 99'000, {.wall_ms = 20'000, .boot_ms = 10'000}), 0);
}

}  // namespace
}  // namespace scheduler
