#include "scheduler/process/tick_signal.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace scheduler {
namespace {

using namespace std::chrono_literals;

TEST(TickSignalTest, SettlesOnceNobodyWakesTheLoop) {
  TickSignal signal;
  signal.wake();
  EXPECT_TRUE(signal.settle(1ms, 1h));
}

TEST(TickSignalTest, SettlesAtTheLatestWhileOthersKeepWakingTheLoop) {
  TickSignal signal;
  std::jthread busy([&](const std::stop_token& ended) {
    while (!ended.stop_requested()) signal.wake();
  });
  EXPECT_TRUE(signal.settle(1h, 10ms));
}

TEST(TickSignalTest, AStopEndsTheSettling) {
  TickSignal signal;
  std::jthread stopper([&] { signal.stop(); });
  EXPECT_FALSE(signal.settle(1h, 1h));
}

TEST(TickSignalTest, AWakeThatCameBeforeIsNotLost) {
  TickSignal signal;
  signal.wake();
  EXPECT_TRUE(signal.wait(1h));
}

TEST(TickSignalTest, AReloadWakesTheLoopAndIsTakenOnce) {
  TickSignal signal;
  signal.reload();
  EXPECT_TRUE(signal.wait(1h));
  EXPECT_TRUE(signal.takes_reload());
  EXPECT_FALSE(signal.takes_reload());
}

}  // namespace
}  // namespace scheduler
