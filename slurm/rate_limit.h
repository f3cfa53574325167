// Limits the requests per minute: a token bucket that fills evenly, so that no 60 s have more
// requests than allowed. Times are milliseconds of a clock that never jumps.
#pragma once

#include <cstdint>

namespace slurm {

inline constexpr int64_t kMinuteMs = 60'000;

class RequestBudget {
 public:
  // `per_minute` requests, of which up to a sixth may come at once. Throws std::invalid_argument
  // when `per_minute` is less than 1.
  RequestBudget(int per_minute, int64_t now_ms);
  int left(int64_t now_ms);
  // Takes one request. Returns false when none is left.
  bool take(int64_t now_ms);
  int64_t taken() const { return taken_; }

 private:
  void fill(int64_t now_ms);
  double per_ms_;
  double most_;
  double left_;
  int64_t filled_ms_;
  int64_t taken_ = 0;
};

}  // namespace slurm
