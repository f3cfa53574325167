// Notices when the thread that computes hangs: it marks what it is doing, another thread ticks.
// Time in which the whole process was suspended does not count, since nothing ticks then.
// Thread-safe.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

namespace engine {

// What may hang. Each has its limit, as a multiple of the ranks' timeout (--rank-timeout).
enum class Activity {
  kBatch,   // one, or ten times the longest batch so far
  kDevice,  // any other call of a device that has started: the same
  kStart,   // preparing the inputs, a device's own start: two
  kFiles,   // inputs and checkpoints: ten, since file systems may be slow
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

  // Counts so much time. Returns what hangs, for a message; empty where nothing does.
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
  std::chrono::milliseconds ticked_{0};   // since then
  std::chrono::milliseconds longest_{0};  // batch
};

}  // namespace engine
