// The cluster that the configuration names.
#pragma once

#include <memory>
#include <string>

#include "scheduler/config/config.h"
#include "slurm/cluster.h"

namespace scheduler {

// `instance` is the database's: jobs named "margay-<instance>-..." are ours. Nothing is asked of
// the cluster yet.
std::unique_ptr<slurm::Cluster> make_cluster(const Config& config, const std::string& instance);

}  // namespace scheduler
