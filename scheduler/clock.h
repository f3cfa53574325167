// Time as the daemon sees it, so that tests own it.
#pragma once

#include <cstdint>

namespace scheduler {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t now_ms() const = 0;  // since the epoch, UTC
  int64_t now() const { return now_ms() / 1000; }
};

class SystemClock : public Clock {
 public:
  int64_t now_ms() const override;
};

}  // namespace scheduler
