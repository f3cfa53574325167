// Stops jobs with a checkpoint, so that the next one can have another width or another place in the
// cluster's queue, and remembers those that cannot be stopped for it: an item whose options do not
// fit the other job keeps the one that it has.
//
// What cannot be done is no fault of the daemon's: it is logged once, and the plan tells the owner
// why. Only for the thread that ticks.
#pragma once

#include <cstdint>
#include <string>

#include "scheduler/daemon/context.h"
#include "scheduler/daemon/job_snapshot.h"
#include "scheduler/policy/plan.h"
#include "scheduler/policy/queue_snapshot.h"

namespace scheduler {

class Widener {
 public:
  explicit Widener(const DaemonContext& context) : context_(context) {}

  // Asks the job to stop; one that cannot be stopped is kept, and why is logged.
  // Throws when the script template cannot be read.
  void widen(const Widening& widening, const JobSnapshot& jobs);
  // Forgets the jobs that have ended or can be stopped by now. `jobs` must be complete.
  void look_again(const JobSnapshot& jobs);
  const NotWidened& not_widened() const { return not_widened_; }

 private:
  void keep(int64_t item_id, const KeptJob& job);
  std::string why_not(int64_t item_id, const Width& width, const JobSnapshot& jobs) const;

  const DaemonContext& context_;
  NotWidened not_widened_{};
};

}  // namespace scheduler
