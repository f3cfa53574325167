#include "scheduler/config/config.h"

#include <filesystem>

namespace scheduler {

std::string Config::job_program() const {
  if (!job.empty()) return job;
  return (std::filesystem::path(engine).parent_path() / "margay-job").string();
}

int gpus_of(const SlurmOptions& slurm, Shape shape) {
  switch (shape) {
    case Shape::kCpu:
      return 0;
    case Shape::kGpu:
      return 1;
    case Shape::kNode:
      return slurm.gpus_per_node;
    case Shape::kNodes:
      return slurm.nodes * slurm.gpus_per_node;
  }
  return 0;
}

}  // namespace scheduler
