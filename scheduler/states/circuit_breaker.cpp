#include "scheduler/states/circuit_breaker.h"

#include <algorithm>

#include "db/attempts.h"

namespace scheduler {
namespace {

// One snapshot may show a job as running that dies at once; two in a row prove the launch.
constexpr int kRunningSnapshots = 2;

// Causes that leave open whether the fault is fixed: the job never met it.
bool proves_nothing(const std::string& cause) {
  return cause == "never_started" || cause == "busy" || cause == "options" ||
         cause == "own_limit" || cause == "raise_refused" || cause == "vanished" ||
         cause == "cancelled" || cause == "cancelled_outside" || cause == "node_failed" ||
         cause == "widened";
}

}  // namespace

// Jobs that were submitted before the breaker tripped fail like the first one; they are no probes
// and must not double the wait.
bool CircuitBreaker::is_late(SiteFault fault, const std::string& token, int64_t now_ms) const {
  if (fault != fault_) return false;
  return now_ms < until_ms_ || (!probe_.empty() && probe_ != token);
}

bool CircuitBreaker::trip(SiteFault fault, const std::string& why, const std::string& token,
                          int64_t now_ms) {
  const bool news = known_ != why;
  known_ = why;
  if (fault == SiteFault::kTransient) {
    transient_why_ = why;
    transient_until_ms_ = now_ms + rules_.first.count();
    limit_reached_ = false;
    return news;
  }
  if (is_late(fault, token, now_ms)) return news;
  const auto longest =
      fault == SiteFault::kConfiguration ? rules_.longest_configuration : rules_.longest_launch;
  const bool again = fault_ == fault && wait_.count() > 0;
  wait_ = again ? std::min(wait_ * 2, std::max(longest, rules_.first)) : rules_.first;
  fault_ = fault;
  why_ = why;
  until_ms_ = now_ms + wait_.count();
  probe_.clear();
  seen_running_ = 0;
  return news;
}

bool CircuitBreaker::reach_limit(const std::string& why, int64_t now_ms) {
  const bool news = trip(SiteFault::kTransient, why, "", now_ms);
  limit_reached_ = true;
  return news;
}

void CircuitBreaker::job_ended() {
  if (limit_reached_) transient_until_ms_ = 0;
}

void CircuitBreaker::retry_now(int64_t now_ms) {
  if (fault_ != SiteFault::kConfiguration) return;
  until_ms_ = now_ms;
  wait_ = std::chrono::milliseconds{0};
}

bool CircuitBreaker::device_works() {
  if (fault_ != SiteFault::kHardware) return false;
  reset();
  return true;
}

void CircuitBreaker::accepted(const std::string& token) {
  if (fault_ == SiteFault::kNone) {
    known_.clear();
    return;
  }
  probe_ = token;
  seen_running_ = 0;
}

bool CircuitBreaker::give_up(const std::string& token) {
  if (!is_probe(token)) return false;
  probe_.clear();
  return true;
}

void CircuitBreaker::observe(const std::string& token, db::AttemptState state, bool seen,
                             const std::string& cause) {
  if (token != probe_ || fault_ == SiteFault::kNone) return;
  if (!db::is_open(state)) {
    if (proves_nothing(cause) || fault_ == SiteFault::kHardware) {
      probe_.clear();
    } else {
      reset();
    }
    return;
  }
  // A job that runs may still be at its probe of the device.
  if (!seen || fault_ == SiteFault::kHardware) return;
  if (state == db::AttemptState::kRunning) ++seen_running_;
  if (fault_ == SiteFault::kConfiguration || seen_running_ >= kRunningSnapshots) reset();
}

void CircuitBreaker::reset() {
  fault_ = SiteFault::kNone;
  why_.clear();
  probe_.clear();
  known_.clear();
  wait_ = std::chrono::milliseconds{0};
}

std::string CircuitBreaker::pause(int64_t now_ms) const {
  if (now_ms < transient_until_ms_) return transient_why_;
  if (fault_ != SiteFault::kNone && (now_ms < until_ms_ || !probe_.empty())) return why_;
  return "";
}

std::string CircuitBreaker::problem(int64_t now_ms) const {
  if (now_ms < transient_until_ms_) return transient_why_;
  return why_;
}

}  // namespace scheduler
