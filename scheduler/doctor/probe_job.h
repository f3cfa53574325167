// The doctor's probe job: whether jobs run at all, and what they see.
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
  std::string name;                              // the job's name
  slurm::Directives asks{};                      // what a search asks for; see probe_directives()
  EngineBackend backend = EngineBackend::kAuto;  // the searches' backend
  std::string engine_version{};                  // the version on this machine
  std::chrono::milliseconds timeout{60'000};
  std::chrono::milliseconds poll{1000};
  std::function<void(std::chrono::milliseconds)> sleep;
};

// Submits the job, waits for it and reports what it saw. Afterwards its folder is removed, and a
// job that has not ended in time is cancelled.
std::vector<slurm::Finding> run_probe_job(const Config& config, const Clock& clock,
                                          slurm::Cluster& cluster, const ProbeOptions& options);

// The search's partition, account, QOS, reservation and constraint, but one node, one task, two
// minutes, and one GPU (with memory for its driver) if the search asks for any.
slurm::Directives probe_directives(const slurm::Directives& asks);

}  // namespace scheduler
