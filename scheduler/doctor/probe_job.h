// A tiny job of the doctor's: whether jobs run at all, and what they see.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "scheduler/clock.h"
#include "scheduler/config/config.h"
#include "slurm/cluster.h"
#include "slurm/sbatch/directives.h"

namespace scheduler {

struct ProbeOptions {
  std::string name;              // of the job
  slurm::Directives asks{};      // what a search asks for; the tiny job asks for a bit of the same
  std::string engine_version{};  // as this machine has it
  std::chrono::milliseconds patience{60'000};
  std::chrono::milliseconds look{1000};
  std::function<void(std::chrono::milliseconds)> sleep;
};

// Leaves nothing behind: a job that has not ended in time is cancelled.
std::vector<slurm::Finding> run_probe_job(const Config& config, const Clock& clock,
                                          slurm::Cluster& cluster, const ProbeOptions& options);

// Where to run, as the search does; one node, one task, one GPU when the search wants any, for two
// minutes.
slurm::Directives probe_directives(const slurm::Directives& asks);

}  // namespace scheduler
