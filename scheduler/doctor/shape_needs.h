// What the jobs of a shape ask for as the doctor compares it with the cluster, and where each of it
// is configured.
#pragma once

#include <string>

#include "scheduler/config/config.h"
#include "slurm/cluster.h"

namespace scheduler {

// Throws as directives_of().
slurm::ShapeNeeds needs_of(const Config& config, const JobShape& job);

// Where the shape's value of an option comes from: "policy.classes.low.qos",
// "slurm.shapes.gpu.mem", "slurm.options.mem", "slurm.nodes", or else the shape itself and its
// script template.
std::string source_of(const Config& config, const JobShape& job, const std::string& option);

}  // namespace scheduler
