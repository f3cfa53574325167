#include "slurm/local/gpu_rests.h"

namespace slurm {

void GpuRests::note(const std::string& job, const std::vector<std::string>& gpus, int64_t now_ms) {
  if (!noted_.insert(job).second) return;
  for (const std::string& gpu : gpus) failed_ms_[gpu] = now_ms;
}

std::map<std::string, int64_t> GpuRests::resting(int64_t now_ms) const {
  std::map<std::string, int64_t> resting;
  for (const auto& [gpu, failed] : failed_ms_) {
    if (now_ms - failed < rest_.count()) resting[gpu] = failed;
  }
  return resting;
}

}  // namespace slurm
