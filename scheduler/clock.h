// The daemon's clocks, an interface so that tests control the time. Any thread may read them. Shown
// and stored times are wall time, which an administrator may set; waits are measured by the boot
// clock.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>

namespace scheduler {

// One moment by both clocks, in milliseconds; see Clock.
struct Moment {
  int64_t wall_ms = 0;
  int64_t boot_ms = 0;
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t now_ms() const = 0;  // milliseconds since the epoch (UTC)
  int64_t now() const { return now_ms() / 1000; }
  // Milliseconds of a clock that is never set and runs while the machine sleeps. The value means
  // nothing in another process.
  virtual int64_t boot_ms() const = 0;
  Moment moment() const { return {.wall_ms = now_ms(), .boot_ms = boot_ms()}; }
};

class SystemClock : public Clock {
 public:
  int64_t now_ms() const override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  }
  int64_t boot_ms() const override {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
  }
};

}  // namespace scheduler
