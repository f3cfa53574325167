// When each item is expected to start and to be done: the ready items, in the plan's order, placed
// one after the other on the GPUs as they are forecast to be free, or on this machine's slots. All
// times are expected values, not bounds; what the model does not know stays unknown. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/policy/plan.h"
#include "scheduler/policy/queue_snapshot.h"
#include "scheduler/policy/ready_order.h"

namespace scheduler {

// Sets Decision::starts_in, done_in, kind and width, and Plan::queue, times and placing. `ready` is
// in the order in which items start; `others` are all items that are not ready, including those
// with a job. A resumed search counts as if it had begun with its job, so it may be done sooner.
//
// The times stay unknown for an item whose search time is not known or whose own options set the
// size of its job; for one that waits for something other than its turn; and for all that have not
// started where jobs wait in Slurm and the cluster's GPUs are not known or nothing may be
// submitted.
void expect_times(const QueueSnapshot& snapshot, const std::vector<Entry>& ready,
                  const std::vector<Entry>& others, Plan& plan);

}  // namespace scheduler
