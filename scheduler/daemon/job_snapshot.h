// The cluster's jobs of this instance as they were last seen.
#pragma once

#include <map>
#include <string>

#include "db/records.h"
#include "slurm/cluster.h"

namespace scheduler {

// By name.
using Jobs = std::multimap<std::string, slurm::JobStatus>;

struct JobSnapshot {
  Jobs jobs{};
  bool complete = false;  // what is not in it is not there

  // The attempt's own job; a number alone proves nothing, since a cluster may use one again.
  const slurm::JobStatus* job_of(const db::Attempt& attempt) const {
    const auto [first, last] = jobs.equal_range(attempt.token);
    for (auto job = first; job != last; ++job) {
      if (job->second.job_id == attempt.job_id) return &job->second;
    }
    return nullptr;
  }
};

}  // namespace scheduler
