// Detects that the wall clock was set, by comparing it with the boot clock. Pure: the caller passes
// the times. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "scheduler/clock.h"

namespace scheduler {

class ClockJumps {
 public:
  // By how many seconds the wall clock was set since the last call; 0: not at all, or by less than
  // two seconds, as by a time server's corrections.
  int64_t seconds(Moment now);

 private:
  std::optional<int64_t> ahead_ms_;  // how far the wall clock is ahead of the boot clock
};

}  // namespace scheduler
