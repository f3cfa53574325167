// The circuit breaker of all submissions. A site-wide fault pauses them; a fault that may last is
// probed by one job at a time, at doubling intervals, and a probe that gets through resumes all.
//
// Pure: the caller passes the time (milliseconds of the boot clock). Not thread-safe; the daemon's
// tick is the only caller.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "db/records.h"

namespace scheduler {

enum class SiteFault {
  kNone,
  kLane,       // only one lane is affected (lanes.h): the breaker ignores it
  kSize,       // only jobs of one size in one lane are affected (lanes.h): the breaker ignores it
  kTransient,  // passes without a probe: a full disk, a limit of the moment
  kLaunch,     // the engine cannot be started anywhere
  kHardware,   // the device fails on one node after another
  kConfiguration,  // the cluster refuses what we send, or does not run it as asked
};

struct BreakerRules {
  std::chrono::milliseconds first{60'000};  // doubles after each failed probe
  std::chrono::milliseconds longest_configuration{600'000};
  std::chrono::milliseconds longest_launch{3'600'000};
};

class CircuitBreaker {
 public:
  explicit CircuitBreaker(BreakerRules rules) : rules_(rules) {}

  // Pauses all submissions. `token` is that of the attempt that met the fault. Returns true when
  // `why` differs from the last reason, so that the administrator's log gets each reason once.
  bool trip(SiteFault fault, const std::string& why, const std::string& token, int64_t now_ms);
  // Pauses all submissions as a transient fault that ends at the latest when one of our jobs ends.
  // Returns as trip().
  bool reach_limit(const std::string& why, int64_t now_ms);
  void job_ended();
  // Probes a configuration fault at once: the cluster answers again, or answers differently.
  void retry_now(int64_t now_ms);
  // True while a hardware fault (devices fail everywhere) is in force.
  bool has_device_fault() const { return fault_ == SiteFault::kHardware; }
  // Ends a hardware fault: a search has passed the probe of its device. Returns true when there was
  // such a fault.
  bool device_works();
  // A job was accepted; while the breaker is tripped, that job becomes the probe.
  void accepted(const std::string& token);
  bool is_probe(const std::string& token) const { return !token.empty() && token == probe_; }
  // The probe's job cannot start for a reason that no other job has, so another job becomes the
  // probe. Returns false when `token` is not the probe.
  bool give_up(const std::string& token);
  // Takes note of an attempt's state. `seen` means that its job is in the cluster's snapshot;
  // `cause` is empty while the attempt is open and when it succeeded.
  void observe(const std::string& token, db::AttemptState state, bool seen,
               const std::string& cause);
  // True when this reason was the last to be logged.
  bool is_known(const std::string& why) const { return known_ == why; }

  // Why nothing may be submitted now; empty when a submission is allowed.
  std::string pause(int64_t now_ms) const;
  // True while at most one job, the probe, may be submitted.
  bool is_probing() const { return fault_ != SiteFault::kNone; }
  // What is wrong, for the user, until a probe has proved it fixed; empty when nothing is.
  std::string problem(int64_t now_ms) const;

 private:
  void reset();
  bool is_late(SiteFault fault, const std::string& token, int64_t now_ms) const;

  BreakerRules rules_;
  std::string transient_why_;
  int64_t transient_until_ms_ = 0;
  bool limit_reached_ = false;          // the transient fault ends when a job ends
  SiteFault fault_ = SiteFault::kNone;  // not kTransient
  std::string why_;
  std::chrono::milliseconds wait_{0};
  int64_t until_ms_ = 0;
  std::string probe_;  // token of the probe, empty while there is none
  int seen_running_ = 0;
  std::string known_;
};

}  // namespace scheduler
