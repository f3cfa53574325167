#include "slurm/rate_limit.h"

#include <algorithm>
#include <stdexcept>

namespace slurm {

// A full bucket may be emptied at once and then refills for a minute, so that it fills at the rate
// of what is left of per_minute.
RequestBudget::RequestBudget(int per_minute, int64_t now_ms)
    : most_(std::max(1, per_minute / 6)), filled_ms_(now_ms) {
  if (per_minute < 1) throw std::invalid_argument("requests_per_minute must be at least 1");
  per_ms_ = std::max(1.0, per_minute - most_) / kMinuteMs;
  left_ = most_;
}

void RequestBudget::fill(int64_t now_ms) {
  if (now_ms <= filled_ms_) return;
  left_ = std::min(most_, left_ + static_cast<double>(now_ms - filled_ms_) * per_ms_);
  filled_ms_ = now_ms;
}

int RequestBudget::left(int64_t now_ms) {
  fill(now_ms);
  return static_cast<int>(left_);
}

bool RequestBudget::take(int64_t now_ms) {
  if (left(now_ms) < 1) return false;
  left_ -= 1;
  ++taken_;
  return true;
}

}  // namespace slurm
