#include "scheduler/policy/circuit_breaker.h"

#include <algorithm>

#include "db/attempts.h"

namespace scheduler {
namespace {

// An engine that runs in two pictures one after the other has been launched.
constexpr int kRunningSnapshots = 2;

bool proves_nothing(const std::string& cause) {
  return cause == "never_started" || cause == "busy" || cause == "options" || cause == "vanished" ||
         cause == "cancelled" || cause == "cancelled_outside" || cause == "node_failed" ||
         cause == "widened";
}

}  // namespace

// Jobs that were on their way when the lane stopped fail like the first: they were no tries.
bool CircuitBreaker::is_late(SiteFault kind, const std::string& token, int64_t now_ms) const {
  if (kind != kind_) return false;
  return now_ms < until_ms_ || (!probe_.empty() && probe_ != token);
}

bool CircuitBreaker::trip(SiteFault kind, const std::string& why, const std::string& token,
                          int64_t now_ms) {
  const bool news = told_ != why;
  told_ = why;
  if (kind == SiteFault::kTransient) {
    rest_why_ = why;
    rest_until_ms_ = now_ms + rules_.first.count();
    return news;
  }
  if (is_late(kind, token, now_ms)) return news;
  const auto longest =
      kind == SiteFault::kLaunch ? rules_.longest_launch : rules_.longest_configuration;
  const bool again = kind_ == kind && wait_.count() > 0;
  wait_ = again ? std::min(wait_ * 2, std::max(longest, rules_.first)) : rules_.first;
  kind_ = kind;
  why_ = why;
  until_ms_ = now_ms + wait_.count();
  probe_.clear();
  seen_running_ = 0;
  return news;
}

void CircuitBreaker::retry_now(int64_t now_ms) {
  if (kind_ != SiteFault::kConfiguration) return;
  until_ms_ = now_ms;
  wait_ = std::chrono::milliseconds{0};
}

void CircuitBreaker::accepted(const std::string& token) {
  if (kind_ == SiteFault::kNone) {
    told_.clear();
    return;
  }
  probe_ = token;
  seen_running_ = 0;
}

void CircuitBreaker::observe(const std::string& token, db::AttemptState state, bool seen,
                             const std::string& cause) {
  if (token != probe_ || kind_ == SiteFault::kNone) return;
  if (!db::is_open(state)) {
    if (proves_nothing(cause)) {
      probe_.clear();
    } else {
      reset();
    }
    return;
  }
  if (!seen) return;
  if (state == db::AttemptState::kRunning) ++seen_running_;
  if (kind_ == SiteFault::kConfiguration || seen_running_ >= kRunningSnapshots) reset();
}

void CircuitBreaker::reset() {
  kind_ = SiteFault::kNone;
  why_.clear();
  probe_.clear();
  told_.clear();
  wait_ = std::chrono::milliseconds{0};
}

std::string CircuitBreaker::pause(int64_t now_ms) const {
  if (now_ms < rest_until_ms_) return rest_why_;
  if (kind_ != SiteFault::kNone && (now_ms < until_ms_ || !probe_.empty())) return why_;
  return "";
}

std::string CircuitBreaker::problem(int64_t now_ms) const {
  if (now_ms < rest_until_ms_) return rest_why_;
  return why_;
}

}  // namespace scheduler
