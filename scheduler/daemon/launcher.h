// Submits one item to the cluster, once: the attempt is stored before anything is submitted, and
// the cluster's answer after it. Not thread-safe; the tick is the only caller.
#pragma once

#include <string>

#include "scheduler/daemon/context.h"
#include "scheduler/policy/policy.h"
#include "scheduler/states/circuit_breaker.h"
#include "scheduler/states/lanes.h"

namespace scheduler {

struct LaunchResult {
  bool submitted = false;   // a request was sent, whatever its outcome
  std::string job_id{};     // the accepted job's id
  bool unanswered = false;  // there was no answer: the job may or may not exist
  // Why nothing more can be launched until the next tick; empty when it can.
  std::string hold{};
};

// What can pause submissions: all of them, those of one lane, or those of one size in a lane.
struct Gates {
  CircuitBreaker& breaker;
  Lanes& lanes;
  Lanes& sizes;
};

// Submits the item's job. Quarantines an item that cannot run, and fails one whose own options are
// wrong.
LaunchResult launch_item(const DaemonContext& context, Gates gates, const ClusterLimits& limits,
                         const JobStart& start);

}  // namespace scheduler
