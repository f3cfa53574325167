// Whether Slurm takes what the searches of each shape ask for: the true request, submitted held, so
// that nothing starts, and cancelled at once.
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
  std::string name;  // of the jobs, completed by the shape's
  std::chrono::milliseconds poll{1000};
  std::function<void(std::chrono::milliseconds)> sleep;
};

// One finding for each shape: Slurm's refusal, or why it would never start the job. Leaves no job.
// Throws as directives_of().
std::vector<slurm::Finding> try_held_requests(const Config& config, slurm::Cluster& cluster,
                                              const std::vector<JobShape>& shapes,
                                              const HeldOptions& options);

}  // namespace scheduler
