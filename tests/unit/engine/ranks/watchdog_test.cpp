// Whether a rank hangs, and in what.
#include "engine/ranks/watchdog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace engine {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr milliseconds kTimeout{1000};

TEST(Watchdog, OfOneWhoWaitsForOthersNeverHangs) {
  Watchdog watchdog(kTimeout);
  EXPECT_THAT(watchdog.tick(100 * kTimeout), IsEmpty());
  { const auto busy = watchdog.busy(Activity::kBatch); }
  EXPECT_THAT(watchdog.tick(100 * kTimeout), IsEmpty());
}

TEST(Watchdog, HangsWhenAStepHasLastedItsTimeout) {
  const std::vector<std::pair<Activity, int>> timeout{
      {Activity::kBatch, 1}, {Activity::kDevice, 1}, {Activity::kStart, 2}, {Activity::kFiles, 10}};
  for (const auto& [step, timeouts] : timeout) {
    Watchdog watchdog(kTimeout);
    const auto busy = watchdog.busy(step);
    EXPECT_THAT(watchdog.tick(timeouts * kTimeout - milliseconds(1)), IsEmpty());
    EXPECT_THAT(watchdog.tick(milliseconds(1)), HasSubstr("hangs"));
  }
}

TEST(Watchdog, SaysWhatHangs) {
  Watchdog watchdog(kTimeout);
  const auto busy = watchdog.busy(Activity::kFiles);
  EXPECT_TRUE(watchdog.is_busy_with(Activity::kFiles));
  EXPECT_FALSE(watchdog.is_busy_with(Activity::kBatch));
  EXPECT_THAT(watchdog.tick(12 * kTimeout), HasSubstr("files for 12 s"));
}

TEST(Watchdog, BeginsAnewWithEachStep) {
  Watchdog watchdog(kTimeout);
  for (int i = 0; i < 5; ++i) {
    const auto busy = watchdog.busy(Activity::kDevice);
    EXPECT_THAT(watchdog.tick(kTimeout * 9 / 10), IsEmpty());
  }
}

TEST(Watchdog, IsPatientWithBatchesThatHaveLastedLong) {
  Watchdog watchdog(milliseconds(20));
  {
    const auto busy = watchdog.busy(Activity::kBatch);
    // Until the batch has lasted longer than one tenth of what is waited for below.
    for (const auto start = std::chrono::steady_clock::now();
         std::chrono::steady_clock::now() - start < milliseconds(15);) {
      watchdog.tick(milliseconds(0));
    }
  }
  const auto busy = watchdog.busy(Activity::kBatch);
  EXPECT_THAT(watchdog.tick(milliseconds(149)), IsEmpty());
  EXPECT_THAT(watchdog.tick(milliseconds(1000)), HasSubstr("batch"));
}

}  // namespace
}  // namespace engine
