// The daemon's clock, an interface so that tests own the time. Any thread may read it.
#pragma once

#include <chrono>
#include <cstdint>

namespace scheduler {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t now_ms() const = 0;  // milliseconds since the epoch (UTC)
  int64_t now() const { return now_ms() / 1000; }
};

class SystemClock : public Clock {
 public:
  int64_t now_ms() const override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  }
};

}  // namespace scheduler
