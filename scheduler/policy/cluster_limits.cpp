#include "scheduler/policy/cluster_limits.h"

#include <chrono>

#include "scheduler/config/class_widths.h"

namespace scheduler {
namespace {

ClusterLimits limits_of_slurm(const Config& config) {
  const SlurmOptions& slurm = config.slurm;
  ClusterLimits limits{.slots = slurm.max_jobs,
                       .queues = true,
                       .max_pending = slurm.max_pending,
                       .width = width_of(slurm, slurm.shape)};
  limits.menu = menu_of(config);
  limits.classes = class_widths_of(config);
  limits.floors = floors_of(config);
  if (!limits.classes.empty()) {
    const auto segment = config.policy.segment.value_or(kUsualSegment);
    limits.segment = std::chrono::duration_cast<std::chrono::seconds>(segment).count();
  }
  const Shape urgent = slurm.urgent_shape.value_or(slurm.shape);
  if (urgent != slurm.shape) {
    limits.urgent = width_of(slurm, urgent);
    limits.urgent_lane = to_string(urgent);
  }
  return limits;
}

}  // namespace

ClusterLimits limits_of(const Config& config) {
  switch (config.cluster) {
    case ClusterKind::kLocal:
      return {.slots = config.local.searches(),
              .width = {.gpus_per_node = config.local.gpus_of_search()}};
    case ClusterKind::kSlurm:
      return limits_of_slurm(config);
  }
  return {};
}

}  // namespace scheduler
