#include "scheduler/config/config.h"

#include <filesystem>

namespace scheduler {

std::string Config::job_program() const {
  if (!job.empty()) return job;
  return (std::filesystem::path(engine).parent_path() / "margay-job").string();
}

slurm::Directives PolicyOptions::options_of(db::Priority priority) const {
  const auto found = classes.find(priority);
  return found == classes.end() ? slurm::Directives() : found->second.options;
}

std::string to_string(const JobShape& job) {
  return to_string(job.shape) + (job.priority ? ", class " + to_string(*job.priority) : "");
}

Width width_of(const SlurmOptions& slurm, Shape shape) {
  switch (shape) {
    case Shape::kCpu:
      return {.gpus_per_node = 0};
    case Shape::kGpu:
      return {};
    case Shape::kNode:
      return {.gpus_per_node = slurm.gpus_per_node};
    case Shape::kNodes:
      return {.nodes = slurm.nodes, .gpus_per_node = slurm.gpus_per_node};
  }
  return {};
}

JobShape job_shape_of(const SlurmOptions& slurm, Shape shape) {
  return {.shape = shape, .width = width_of(slurm, shape)};
}

JobShape class_shape_of(const SlurmOptions& slurm, db::Priority priority) {
  const bool urgent = priority == db::Priority::kUrgent;
  JobShape job =
      job_shape_of(slurm, urgent ? slurm.urgent_shape.value_or(slurm.shape) : slurm.shape);
  job.priority = priority;
  return job;
}

JobShape job_shape_of(const SlurmOptions& slurm, const Width& width) {
  for (const Shape own : {slurm.shape, slurm.urgent_shape.value_or(slurm.shape)}) {
    if (width_of(slurm, own) == width) return {.shape = own, .width = width};
  }
  Shape shape = Shape::kNodes;
  if (width.nodes == 1 && width.gpus_per_node > 1) shape = Shape::kNode;
  if (width.nodes == 1 && width.gpus_per_node == 1) shape = Shape::kGpu;
  if (width.nodes == 1 && width.gpus_per_node == 0) shape = Shape::kCpu;
  return {.shape = shape, .width = width};
}

}  // namespace scheduler
