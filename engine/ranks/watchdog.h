// Notices when the computing thread hangs: that thread marks what it is doing, and another thread
// calls tick(). Time in which the whole process was suspended does not count, since nothing ticks
// then. Thread-safe.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

namespace engine {

// What may hang. Limits are given in units of the ranks' timeout (--rank-timeout).
enum class Activity {
  kBatch,   // one batch: 1 timeout, or 10 times the longest batch so far if that is more
  kDevice,  // any other call of a device that has started: as for kBatch
  kStart,   // preparing the inputs and starting the device: 2 timeouts
  kFiles,   // inputs and checkpoints: 10 timeouts, since file systems may be slow
};

class Watchdog {
 public:
  explicit Watchdog(std::chrono::milliseconds timeout) : timeout_(timeout) {}

  // The activity lasts as long as the returned guard.
  class Busy {
   public:
    explicit Busy(Watchdog& watchdog) : watchdog_(watchdog) {}
    ~Busy() { watchdog_.end(); }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    Watchdog& watchdog_;
  };
  [[nodiscard]] Busy busy(Activity what);

  // Adds `time` to the current activity. Returns what hangs, for a message; empty where nothing
  // does.
  std::string tick(std::chrono::milliseconds time);
  bool is_busy_with(Activity what);

 private:
  using Clock = std::chrono::steady_clock;

  void end();
  std::chrono::milliseconds limit() const;

  const std::chrono::milliseconds timeout_;
  std::mutex mutex_;
  bool busy_ = false;
  Activity what_ = Activity::kBatch;
  Clock::time_point begun_;
  std::chrono::milliseconds ticked_{0};   // time counted since begun_
  std::chrono::milliseconds longest_{0};  // the longest batch
};

}  // namespace engine
