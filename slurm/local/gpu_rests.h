// Which GPUs of this machine rest because a search found that a device fails. A failing GPU is soon
// free again, so that without a rest it would be given to one search after another. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace slurm {

class GpuRests {
 public:
  explicit GpuRests(std::chrono::milliseconds rest) : rest_(rest) {}

  // A job that held these GPUs found that one of them fails. Only the first call for a job counts.
  void note(const std::string& job, const std::vector<std::string>& gpus, int64_t now_ms);
  // Forgets the job, which is no longer asked about.
  void forget(const std::string& job) { noted_.erase(job); }
  // The GPUs that rest, each with the time of its failure in ms.
  std::map<std::string, int64_t> resting(int64_t now_ms) const;

 private:
  std::chrono::milliseconds rest_;
  std::map<std::string, int64_t> failed_ms_;
  std::set<std::string> noted_;
};

}  // namespace slurm
