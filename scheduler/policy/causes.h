// The table of causes: how often each is retried, how far apart, with how much more, and what an
// item becomes that has no retry left. Pure.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "db/records.h"
#include "scheduler/policy/circuit_breaker.h"

namespace scheduler {

// Of an attempt whose search does not move: set while its job is being ended for that.
inline constexpr const char* kStalled = "stalled";

// What it was to search cannot be searched, or is not what was registered.
inline constexpr const char* kBadInputCause = "bad_input";

// The engine refused the checkpoint that its job resumed from; no later attempt resumes from it.
inline constexpr const char* kCheckpointCause = "checkpoint";

// How often each cause ended an attempt of this item since the user's last `retry`.
using Failures = std::map<std::string, int>;

struct RetryRules {
  std::chrono::milliseconds first{60'000};  // wait before another try, doubled each time
  std::chrono::milliseconds longest{3'600'000};
};

struct Outcome {
  db::AttemptState attempt = db::AttemptState::kPending;
  std::string cause{};    // of an ended attempt that is not DONE
  std::string message{};  // for the user
  // Set when the attempt ended: the item's new state, why, and how long the item then waits.
  std::optional<db::ItemState> item{};
  std::string reason{};
  std::chrono::milliseconds wait{0};
  // The share of the search that the attempt's checkpoint has; none: it left no such checkpoint.
  std::optional<double> searched{};
  // The site's fault: neither this attempt nor the others of the row count against their items.
  bool exempt = false;
  // Other than kNone when the fault is the site's and all submissions pause, with the reason.
  SiteFault site_fault = SiteFault::kNone;
  std::string pause_reason{};
};

// What the outcome of a failed attempt depends on besides the attempt itself.
struct Past {
  const Failures& failures;
  const RetryRules& rules;
};

// An attempt that ended for this cause, one of the table's. `message` is what the cluster or the
// engine said, and may be empty.
Outcome ended(db::AttemptState state, const std::string& cause, const std::string& message,
              const Past& past);

// The same for a fault of the site: all submissions pause, and `why` and the message say why.
Outcome paused(Outcome outcome, SiteFault fault, const std::string& why,
               const std::string& advice = "");

// Of an attempt that was refused although it would have been taken without more time or memory.
inline constexpr const char* kRaiseRefused = "raise_refused";

// The factors by which the next job's time limit and memory exceed what its options ask for, after
// attempts that these ended. 1 where the cluster has refused more (kRaiseRefused).
double time_factor(const Failures& failures);
double memory_factor(const Failures& failures);

}  // namespace scheduler
