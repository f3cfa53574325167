// When each item is expected to start and to be done: the ready items, in the plan's order, placed
// one after the other on the GPUs as they are forecast to be free, or on this machine's slots. All
// are expected values, no bounds; what the model does not know stays unknown. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/policy/plan.h"
#include "scheduler/policy/queue_snapshot.h"
#include "scheduler/policy/ready_order.h"

namespace scheduler {

// Sets Decision::starts_in, done_in, kind and width, and Plan::queue, times and placing. `ready` is
// in the order in which items start; `others` are all that are not ready, those with a job among
// them. A search that has resumed is taken as if it had begun with its job, so that it may be done
// sooner.
//
// Unknown are: an item of which the time of its search is not known, or with options of its own for
// the size of its job; one that waits for something other than its turn; and, where jobs wait in
// Slurm and the cluster's GPUs are not known or nothing may be submitted, all that have not
// started.
void expect_times(const QueueSnapshot& snapshot, const std::vector<Entry>& ready,
                  const std::vector<Entry>& others, Plan& plan);

}  // namespace scheduler
