// The table of causes of failures: for each, how often and after which wait an attempt is retried,
// with how much more time or memory, and the state of an item without retries left. Pure.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "db/records.h"
#include "scheduler/states/circuit_breaker.h"

namespace scheduler {

// The cause of an attempt whose search makes no progress; set while its job is being ended for
// that.
inline constexpr const char* kStalled = "stalled";

// The input cannot be searched, or is not what was registered.
inline constexpr const char* kBadInputCause = "bad_input";

// The engine refused the checkpoint that its job resumed from; no later attempt resumes from it.
inline constexpr const char* kCheckpointCause = "checkpoint";

// How often each cause ended an attempt of this item since the user's last `retry`.
using Failures = std::map<std::string, int>;

struct RetryRules {
  std::chrono::milliseconds first{60'000};  // wait before the first retry; doubles with each
  std::chrono::milliseconds longest{3'600'000};
};

struct Outcome {
  db::AttemptState attempt = db::AttemptState::kPending;
  std::string cause{};    // cause of an attempt that ended and is not DONE
  std::string message{};  // for the user
  // Set when the attempt ended: the item's new state, why, and how long the item then waits.
  std::optional<db::ItemState> item{};
  std::string reason{};
  std::chrono::milliseconds wait{0};
  // The share of the search, 0 to 1, that the attempt's checkpoint has; unset: it left no
  // checkpoint that counts.
  std::optional<double> searched{};
  // The site's fault: neither this attempt nor the others in the row count against their items.
  bool exempt = false;
  // Not kNone: the fault is the site's and all submissions pause, for pause_reason.
  SiteFault site_fault = SiteFault::kNone;
  std::string pause_reason{};
};

// What the outcome of a failed attempt depends on besides the attempt itself.
struct Past {
  const Failures& failures;
  const RetryRules& rules;
};

// The outcome of an attempt that ended for this cause, which must be in the table. `message` is
// what the cluster or the engine said, and may be empty.
Outcome ended(db::AttemptState state, const std::string& cause, const std::string& message,
              const Past& past);

// Turns `outcome` into one for a fault of the site: all submissions pause, and the reason consists
// of `why`, the message and `advice`.
Outcome paused(Outcome outcome, SiteFault fault, const std::string& why,
               const std::string& advice = "");

// The cause of an attempt whose request for more time or memory was refused; without it, it would
// have been accepted.
inline constexpr const char* kRaiseRefused = "raise_refused";

// The factors by which the next job's time limit and memory exceed what its options ask for, after
// these failures. 1 where the cluster has refused more (kRaiseRefused).
double time_factor(const Failures& failures);
double memory_factor(const Failures& failures);

}  // namespace scheduler
