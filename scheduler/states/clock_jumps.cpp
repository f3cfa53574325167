#include "scheduler/states/clock_jumps.h"

#include <cstdlib>
#include <utility>

namespace scheduler {
namespace {

constexpr int64_t kSmallest = 2;

}  // namespace

int64_t ClockJumps::seconds(Moment now) {
  const int64_t ahead_ms = now.wall_ms - now.boot_ms;
  const int64_t before_ms = std::exchange(ahead_ms_, ahead_ms).value_or(ahead_ms);
  const int64_t seconds = (ahead_ms - before_ms) / 1000;
  return std::abs(seconds) < kSmallest ? 0 : seconds;
}

}  // namespace scheduler
