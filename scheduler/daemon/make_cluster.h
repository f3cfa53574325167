// Makes the cluster that the configuration names. No other file includes the transports.
#pragma once

#include <memory>
#include <string>

#include "scheduler/config/config.h"
#include "slurm/cluster.h"

namespace scheduler {

// The cluster that the configuration names. Our jobs are those whose names begin with the
// instance's token prefix. Sends nothing to the cluster yet.
std::unique_ptr<slurm::Cluster> make_cluster(const Config& config, const std::string& instance);

}  // namespace scheduler
