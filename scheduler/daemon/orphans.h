// Jobs of ours that no open attempt owns: what is over is forgotten, what was given up, the second
// of a name, and what would run again after its result is there, is stopped.
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

  // A new picture: begin(), reap() for each of its jobs, finish().
  void begin(const std::vector<db::Attempt>& open);
  void check(const slurm::JobStatus& job);
  void finish();

  // The outcome is stored and the job over, or gone: leftovers of the search go.
  void forget(const db::Attempt& attempt, const JobSnapshot& snapshot) const;

  // Jobs in the picture that take a place in the cluster and belong to no open attempt.
  int occupying() const { return occupying_; }
  // Stopped since the start of this daemon.
  int64_t stopped() const { return stopped_; }

 private:
  bool is_on_its_way_out(const slurm::JobStatus& job) const;

  const DaemonContext& context_;
  std::unordered_map<std::string, std::string> open_;  // job's id by token
  int occupying_ = 0;
  int64_t stopped_ = 0;
  std::set<std::string> known_;  // ids of jobs that are being stopped
  std::set<std::string> seen_;   // of them, in this picture
};

}  // namespace scheduler
