// How large the site is and what its configuration grants, as a trace of a simulation says it
// (docs/policy.md, Simulation).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "scheduler/config/config.h"
#include "slurm/cluster_facts.h"

namespace scheduler {

struct SiteSize {
  int nodes = 0;  // that plain jobs may run on and that are up; 0: not known
  int gpus_per_node = 1;
  int max_jobs = 1;
  int max_pending = 0;  // 0: a part of those that run
  int64_t segment = 0;  // seconds that a bulk job runs at most; 0: until its search is done
  // By class, what `policy.classes` says of the width of its jobs, "cap" and "4 nodes", and of its
  // floor.
  std::map<std::string, std::map<std::string, std::string>> classes{};
  std::string problem{};  // why the nodes are not known, a clause
};

// The facts are those of the configuration's cluster. Pure.
SiteSize site_size(const Config& config, const slurm::ClusterFacts& facts);

}  // namespace scheduler
