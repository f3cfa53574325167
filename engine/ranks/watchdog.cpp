#include "engine/ranks/watchdog.h"

#include <algorithm>

namespace engine {

using std::chrono::milliseconds;

Pulse::Busy Pulse::busy(Doing what) {
  const std::lock_guard lock(mutex_);
  busy_ = true;
  what_ = what;
  begun_ = Clock::now();
  ticked_ = {};
  return Busy(*this);
}

void Pulse::end() {
  const std::lock_guard lock(mutex_);
  busy_ = false;
  if (what_ != Doing::kBatch) return;
  // A batch within which the process was suspended did not take that long.
  const auto time = std::chrono::ceil<milliseconds>(Clock::now() - begun_);
  longest_ = std::max(longest_, std::min(time, ticked_ + timeout_));
}

milliseconds Pulse::patience() const {
  switch (what_) {
    case Doing::kBatch:
    case Doing::kDevice:
      return std::max(timeout_, 10 * longest_);
    case Doing::kStart:
      return 2 * timeout_;
    case Doing::kFiles:
      return 10 * timeout_;
  }
  return timeout_;
}

std::string Pulse::tick(milliseconds time) {
  const std::lock_guard lock(mutex_);
  ticked_ += time;
  if (!busy_ || ticked_ < patience()) return "";
  const std::string since =
      " for " + std::to_string(std::chrono::round<std::chrono::seconds>(ticked_).count()) + " s";
  switch (what_) {
    case Doing::kBatch:
      return "it has been at one batch" + since +
             ", many times as long as any before: its device hangs";
    case Doing::kDevice:
      return "it has waited for its device" + since + ": the device hangs";
    case Doing::kStart:
      return "it has been starting" + since + ": its device hangs";
    case Doing::kFiles:
      return "it has been at its files" + since + ": their file system hangs";
  }
  return "it hangs";
}

bool Pulse::is_busy_with(Doing what) {
  const std::lock_guard lock(mutex_);
  return busy_ && what_ == what;
}

}  // namespace engine
