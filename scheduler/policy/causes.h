// The table of causes: how often each is retried, how far apart, with how much more, and what an
// item becomes that has no retry left. Pure.
#pragma once

#include <string>

#include "scheduler/policy/transition.h"

namespace scheduler {

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

// The factors by which the next job's time limit and memory exceed what its options ask for, after
// attempts that these ended. 1 once the cluster has refused more.
double time_factor(const Failures& failures);
double memory_factor(const Failures& failures);

}  // namespace scheduler
