#include "engine/ranks/watchdog.h"

#include <algorithm>

namespace engine {

using std::chrono::milliseconds;

Watchdog::Busy Watchdog::busy(Activity what) {
  const std::lock_guard lock(mutex_);
  busy_ = true;
  what_ = what;
  begun_ = Clock::now();
  ticked_ = {};
  return Busy(*this);
}

void Watchdog::end() {
  const std::lock_guard lock(mutex_);
  busy_ = false;
  if (what_ != Activity::kBatch) return;
  // A batch within which the process was suspended did not take that long.
  const auto time = std::chrono::ceil<milliseconds>(Clock::now() - begun_);
  longest_ = std::max(longest_, std::min(time, ticked_ + timeout_));
}

milliseconds Watchdog::limit() const {
  switch (what_) {
    case Activity::kBatch:
    case Activity::kDevice:
      return std::max(timeout_, 10 * longest_);
    case Activity::kStart:
      return 2 * timeout_;
    case Activity::kFiles:
      return 10 * timeout_;
  }
  return timeout_;
}

std::string Watchdog::tick(milliseconds time) {
  const std::lock_guard lock(mutex_);
  ticked_ += time;
  if (!busy_ || ticked_ < limit()) return "";
  const std::string since =
      " for " + std::to_string(std::chrono::round<std::chrono::seconds>(ticked_).count()) + " s";
  switch (what_) {
    case Activity::kBatch:
      return "it has been at one batch" + since +
             ", many times as long as any before: its device hangs";
    case Activity::kDevice:
      return "it has waited for its device" + since + ": the device hangs";
    case Activity::kStart:
      return "it has been starting" + since + ": its device hangs";
    case Activity::kFiles:
      return "it has been at its files" + since + ": their file system hangs";
  }
  return "it hangs";
}

bool Watchdog::is_busy_with(Activity what) {
  const std::lock_guard lock(mutex_);
  return busy_ && what_ == what;
}

}  // namespace engine
