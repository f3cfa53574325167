// A clock for tests.
#pragma once

#include <chrono>

#include "scheduler/clock.h"

namespace tests {

// Stands still until a test moves it.
class FakeClock : public scheduler::Clock {
 public:
  int64_t now_ms() const override { return now_ms_; }
  void pass(std::chrono::milliseconds time) { now_ms_ += time.count(); }

 private:
  int64_t now_ms_ = 1'700'000'000'000;
};

}  // namespace tests
