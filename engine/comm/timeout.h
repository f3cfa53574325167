// How long something is waited for. Time in which this process was suspended does not count.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

namespace engine::comm {

// Looks at the clock again and again while it waits: what goes by between two looks counts as no
// more than a slice. For one thread at a time.
class Patience {
 public:
  using Clock = std::chrono::steady_clock;
  using Now = std::function<Clock::time_point()>;
  static constexpr std::chrono::milliseconds kSlice{250};

  // `of_no_use`: whether what is waited for is of no use any more.
  explicit Patience(std::chrono::milliseconds length, std::function<bool()> of_no_use = {},
                    Now now = Clock::now)
      : length_(length), of_no_use_(std::move(of_no_use)), now_(std::move(now)), looked_(now_()) {}

  // Until when to wait before ended() is asked again.
  Clock::time_point next_look() {
    look();
    return looked_ + std::clamp<Clock::duration>(length_ - waited_, Clock::duration(0), kSlice);
  }
  bool ended() {
    look();
    return waited_ >= length_ || (of_no_use_ && of_no_use_());
  }
  // Something came: from the beginning.
  void renew() {
    waited_ = {};
    looked_ = now_();
  }
  // A call that cannot be ended took so long.
  void spend(Clock::duration time) {
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
  std::function<bool()> of_no_use_;
  Now now_;
  Clock::time_point looked_;
  Clock::duration waited_{0};
};

}  // namespace engine::comm
