// Measures how long a wait has lasted, without the time in which this process was suspended: the
// clock is read again and again, and the time between two readings counts as at most kSlice. A
// timeout may be used by one thread at a time.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

namespace engine::comm {

class Timeout {
 public:
  using Clock = std::chrono::steady_clock;
  using Now = std::function<Clock::time_point()>;
  static constexpr std::chrono::milliseconds kSlice{250};

  // expired() calls `is_cancelled`, and a true result ends the wait at once. It may be empty.
  explicit Timeout(std::chrono::milliseconds length, std::function<bool()> is_cancelled = {},
                   Now now = Clock::now)
      : length_(length),
        is_cancelled_(std::move(is_cancelled)),
        now_(std::move(now)),
        looked_(now_()) {}

  // Returns the time until which the caller may wait before it asks expired() again.
  Clock::time_point next_check() {
    look();
    return looked_ + std::clamp<Clock::duration>(length_ - waited_, Clock::duration(0), kSlice);
  }
  bool expired() {
    look();
    return waited_ >= length_ || (is_cancelled_ && is_cancelled_());
  }
  // Starts the wait again, because something has arrived.
  void restart() {
    waited_ = {};
    looked_ = now_();
  }
  // Counts the whole time of a call that could not be interrupted, even beyond kSlice.
  void charge(Clock::duration time) {
    waited_ += time;
    looked_ = now_();
  }
  std::chrono::milliseconds length() const { return length_; }

 private:
  void look() {
    const Clock::time_point now = now_();
    waited_ += std::min<Clock::duration>(now - looked_, kSlice);
    looked_ = now;
  }

  std::chrono::milliseconds length_;
  std::function<bool()> is_cancelled_;
  Now now_;
  Clock::time_point looked_;
  Clock::duration waited_{0};
};

}  // namespace engine::comm
