// The size of the site and what its configuration grants, as the trace of a simulation contains it
// (docs/policy.md, Simulation).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "scheduler/config/config.h"
#include "slurm/cluster_facts.h"

namespace scheduler {

struct SiteSize {
  int nodes = 0;  // nodes that are up and that plain jobs may use; 0: not known
  int gpus_per_node = 1;
  int max_jobs = 1;
  int max_pending = 0;  // 0: a fraction of the running jobs
  int64_t segment = 0;  // seconds that a bulk job runs at most; 0: until its search is done
  // By class, the settings of `policy.classes` for the width of its jobs ("cap" -> "4 nodes") and
  // for its floor.
  std::map<std::string, std::map<std::string, std::string>> classes{};
  std::string problem{};  // why the nodes are not known, a clause
};

// `facts` must come from the configuration's cluster. Pure.
SiteSize site_size(const Config& config, const slurm::ClusterFacts& facts);

}  // namespace scheduler
