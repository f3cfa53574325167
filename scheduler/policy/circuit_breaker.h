// Why nothing is submitted, and until when. A fault that is no item's stops the whole lane; when
// the fault may last, one job at a time tries whether it is mended, at growing distances, and the
// rest follows when that job got through. Pure: the time comes from outside.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "db/records.h"

namespace scheduler {

enum class SiteFault {
  kNone,
  kTransient,      // a while, then on as before: a full disk, a limit of the moment
  kLaunch,         // the engine cannot be started anywhere
  kConfiguration,  // the cluster does not take, or not as asked, what we send
};

struct BreakerRules {
  std::chrono::milliseconds first{60'000};  // doubled with each try that fails
  std::chrono::milliseconds longest_configuration{600'000};
  std::chrono::milliseconds longest_launch{3'600'000};
};

class CircuitBreaker {
 public:
  explicit CircuitBreaker(BreakerRules rules) : rules_(rules) {}

  // `token` of the attempt that met the fault. Returns whether the administrator has not been told
  // that before.
  bool trip(SiteFault kind, const std::string& why, const std::string& token, int64_t now_ms);
  // What stopped the lane may be mended: it is tried at once.
  void retry_now(int64_t now_ms);
  // A job was accepted. On a stopped lane it is the one that tries.
  void accepted(const std::string& token);
  // How an attempt does; `seen`: its job is in the cluster's picture. `cause` is empty while it is
  // open or when it ended well.
  void observe(const std::string& token, db::AttemptState state, bool seen,
               const std::string& cause);
  // Whether this sentence would be no news.
  bool is_known(const std::string& why) const { return told_ == why; }

  // Nothing may be submitted now: why. Empty = it may.
  std::string pause(int64_t now_ms) const;
  // Only one, to see whether the fault is mended.
  bool is_probing() const { return kind_ != SiteFault::kNone; }
  // For the user: what is wrong, until it is proven mended. Empty = nothing.
  std::string problem(int64_t now_ms) const;

 private:
  void reset();
  bool is_late(SiteFault kind, const std::string& token, int64_t now_ms) const;

  BreakerRules rules_;
  std::string rest_why_;
  int64_t rest_until_ms_ = 0;
  SiteFault kind_ = SiteFault::kNone;  // kLaunch or kConfiguration
  std::string why_;
  std::chrono::milliseconds wait_{0};
  int64_t until_ms_ = 0;
  std::string probe_;  // token of the job that tries
  int seen_running_ = 0;
  std::string told_;
};

}  // namespace scheduler
