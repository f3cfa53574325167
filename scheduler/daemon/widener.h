// Stops jobs with a checkpoint, so that the item's next job can have another width or place in the
// cluster's queue. It remembers jobs that cannot be stopped for this: an item whose options do not
// fit the new job keeps its present one.
//
// A job that cannot be stopped is logged once, and the plan gives the owner the reason. Only the
// tick uses this.
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

  // Asks the job to stop; if it cannot be stopped, it is kept and the reason is logged. Throws when
  // the script template cannot be read.
  void widen(const Widening& widening, const JobSnapshot& jobs);
  // Forgets the kept jobs that have ended or can now be stopped. `jobs` must be complete.
  void look_again(const JobSnapshot& jobs);
  const NotWidened& not_widened() const { return not_widened_; }

 private:
  void keep(int64_t item_id, const KeptJob& job);
  std::string why_not(int64_t item_id, const Width& width, const JobSnapshot& jobs) const;

  const DaemonContext& context_;
  NotWidened not_widened_{};
};

}  // namespace scheduler
