// The jobs of this Margay instance in the cluster, as last seen.
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
  bool complete = false;  // true: a job that is not in it does not exist

  // The attempt's own job, or null. The name must match as well as the id, since a cluster may
  // reuse ids.
  const slurm::JobStatus* job_of(const db::Attempt& attempt) const {
    const auto [first, last] = jobs.equal_range(attempt.token);
    for (auto job = first; job != last; ++job) {
      if (job->second.job_id == attempt.job_id) return &job->second;
    }
    return nullptr;
  }
};

}  // namespace scheduler
