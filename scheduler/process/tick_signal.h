// Lets other threads wake a loop, make requests that it handles between rounds, and end it. Every
// method may be called by any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace scheduler {

class TickSignal {
 public:
  void wake() { set(woken_); }
  // Wakes the loop; takes_reload() then returns true once.
  void reload() {
    set(reload_);
    wake();
  }
  void stop() { set(stopped_); }
  void end() { set(ended_); }

  bool takes_reload() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(reload_, false);
  }
  // Returns false when it is time to end.
  bool wait(std::chrono::milliseconds longest, std::chrono::milliseconds shortest = {}) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, shortest, [this] { return stopped_; });
    changed_.wait_for(lock, longest, [this] { return woken_ || stopped_; });
    woken_ = false;
    return !stopped_;
  }
  // Waits until no thread has woken the loop for `quiet`, but no longer than `longest`. Returns
  // false when it is time to end.
  bool settle(std::chrono::milliseconds quiet, std::chrono::milliseconds longest) {
    std::unique_lock lock(mutex_);
    const auto latest = std::chrono::steady_clock::now() + longest;
    do {
      woken_ = false;
    } while (changed_.wait_for(lock, quiet, [this] { return woken_ || stopped_; }) && !stopped_ &&
             std::chrono::steady_clock::now() < latest);
    return !stopped_;
  }
  bool has_ended(std::chrono::milliseconds within) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, within, [this] { return ended_; });
  }

 private:
  void set(bool& flag) {
    const std::scoped_lock lock(mutex_);
    flag = true;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  bool reload_ = false;
  bool stopped_ = false;
  bool ended_ = false;
};

}  // namespace scheduler
