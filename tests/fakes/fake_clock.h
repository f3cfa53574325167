// A clock for tests.
#pragma once

#include <chrono>

#include "scheduler/clock.h"

namespace tests {

// Stands still until a test moves it.
class FakeClock : public scheduler::Clock {
 public:
  int64_t now_ms() const override { return now_ms_; }
  int64_t boot_ms() const override { return boot_ms_; }
  void pass(std::chrono::milliseconds time) {
    now_ms_ += time.count();
    boot_ms_ += time.count();
  }
  // An administrator sets the wall clock.
  void set_by(std::chrono::milliseconds change) { now_ms_ += change.count(); }

 private:
  int64_t now_ms_ = 1'700'000'000'000;
  int64_t boot_ms_ = 5'000'000;
};

}  // namespace tests
