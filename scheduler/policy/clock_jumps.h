// Notices when the wall clock is set, by comparing it with the boot clock. Pure: the caller passes
// the times. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "scheduler/clock.h"

namespace scheduler {

class ClockJumps {
 public:
  // By how many seconds the wall clock was set since the last call; 0 when it was not, or by less
  // than two seconds, as a time server corrects it.
  int64_t seconds(Moment now);

 private:
  std::optional<int64_t> ahead_ms_;  // the wall clock, of the boot clock
};

}  // namespace scheduler
