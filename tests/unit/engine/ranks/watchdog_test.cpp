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

TEST(Pulse, OfOneWhoWaitsForOthersNeverHangs) {
  Pulse pulse(kTimeout);
  EXPECT_THAT(pulse.tick(100 * kTimeout), IsEmpty());
  { const auto busy = pulse.busy(Doing::kBatch); }
  EXPECT_THAT(pulse.tick(100 * kTimeout), IsEmpty());
}

TEST(Pulse, HangsWhenAStepHasLastedItsPatience) {
  const std::vector<std::pair<Doing, int>> patience{
      {Doing::kBatch, 1}, {Doing::kDevice, 1}, {Doing::kStart, 2}, {Doing::kFiles, 10}};
  for (const auto& [step, timeouts] : patience) {
    Pulse pulse(kTimeout);
    const auto busy = pulse.busy(step);
    EXPECT_THAT(pulse.tick(timeouts * kTimeout - milliseconds(1)), IsEmpty());
    EXPECT_THAT(pulse.tick(milliseconds(1)), HasSubstr("hangs"));
  }
}

TEST(Pulse, SaysWhatHangs) {
  Pulse pulse(kTimeout);
  const auto busy = pulse.busy(Doing::kFiles);
  EXPECT_TRUE(pulse.is_busy_with(Doing::kFiles));
  EXPECT_FALSE(pulse.is_busy_with(Doing::kBatch));
  EXPECT_THAT(pulse.tick(12 * kTimeout), HasSubstr("files for 12 s"));
}

TEST(Pulse, BeginsAnewWithEachStep) {
  Pulse pulse(kTimeout);
  for (int i = 0; i < 5; ++i) {
    const auto busy = pulse.busy(Doing::kDevice);
    EXPECT_THAT(pulse.tick(kTimeout * 9 / 10), IsEmpty());
  }
}

TEST(Pulse, IsPatientWithBatchesThatHaveLastedLong) {
  Pulse pulse(milliseconds(20));
  {
    const auto busy = pulse.busy(Doing::kBatch);
    // Until the batch has lasted longer than one tenth of what is waited for below.
    for (const auto start = std::chrono::steady_clock::now();
         std::chrono::steady_clock::now() - start < milliseconds(15);) {
      pulse.tick(milliseconds(0));
    }
  }
  const auto busy = pulse.busy(Doing::kBatch);
  EXPECT_THAT(pulse.tick(milliseconds(149)), IsEmpty());
  EXPECT_THAT(pulse.tick(milliseconds(1000)), HasSubstr("batch"));
}

}  // namespace
}  // namespace engine
