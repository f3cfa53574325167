// What the jobs of a shape ask for, in the form that the doctor compares with the cluster, and
// where each value is configured.
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
