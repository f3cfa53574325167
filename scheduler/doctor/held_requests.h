// Tests whether Slurm accepts the searches' requests of each shape: the real request is submitted
// held, so that nothing starts, and cancelled at once.
#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "scheduler/config/config.h"
#include "slurm/cluster.h"
#include "slurm/sbatch/directives.h"

namespace scheduler {

struct HeldOptions {
  std::string name;  // prefix of the jobs' names; the shape's name follows
  std::chrono::milliseconds poll{1000};
  std::function<void(std::chrono::milliseconds)> sleep;
};

// The findings for each shape: that Slurm accepts its job, or Slurm's refusal, or why Slurm would
// never start it. Leaves no job, unless Slurm does not answer or no request is left to cancel it,
// which is then a finding. Throws as directives_of().
std::vector<slurm::Finding> try_held_requests(const Config& config, slurm::Cluster& cluster,
                                              const std::vector<JobShape>& shapes,
                                              const HeldOptions& options);

}  // namespace scheduler
