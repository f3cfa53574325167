// Orphans: jobs of this daemon without an open attempt. Finished orphans are forgotten. An orphan
// is stopped if its attempt was abandoned, if it is the second job of its name, or if it would run
// again although its result exists. Not thread-safe; the tick is the only caller.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/records.h"
#include "scheduler/daemon/context.h"
#include "scheduler/daemon/job_snapshot.h"

namespace scheduler {

class Orphans {
 public:
  explicit Orphans(const DaemonContext& context) : context_(context) {}

  // For each new snapshot: begin() with the open attempts, check() for each of its jobs, finish().
  void begin(const std::vector<db::Attempt>& open);
  void check(const slurm::JobStatus& job);
  void finish();

  // Removes the leftovers of a finished search once the outcome is stored and the job is over or
  // gone.
  void forget(const db::Attempt& attempt, const JobSnapshot& snapshot) const;

  // Jobs of the snapshot that take a slot and belong to no open attempt.
  int occupying() const { return occupying_; }
  // Jobs stopped since the start of this daemon.
  int64_t stopped() const { return stopped_; }

 private:
  bool is_on_its_way_out(const slurm::JobStatus& job) const;

  const DaemonContext& context_;
  std::unordered_map<std::string, std::string> open_;  // the job's id by token
  int occupying_ = 0;
  int64_t stopped_ = 0;
  std::set<std::string> known_;  // ids of the jobs that are being stopped
  std::set<std::string> seen_;   // those of known_ in this snapshot
};

}  // namespace scheduler
