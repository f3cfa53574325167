#include "engine/launch/stop_signals.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace engine {
namespace {

bool becomes_true(const std::atomic<bool>& flag) {
  for (int i = 0; i < 10000 && !flag; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return flag;
}

TEST(StopSignals, EachSignalOfAStopSetsTheFlagAndTheProcessLives) {
  for (const int signal : {SIGTERM, SIGUSR1, SIGINT}) {
    const StopSignals signals;
    EXPECT_FALSE(signals.requested());
    ASSERT_EQ(::kill(::getpid(), signal), 0);
    EXPECT_TRUE(becomes_true(signals.requested())) << "signal " << signal;
  }
}

TEST(StopSignals, NoSignalLeavesTheFlagDown) {
  const StopSignals signals;
  EXPECT_FALSE(signals.requested());
}

}  // namespace
}  // namespace engine
