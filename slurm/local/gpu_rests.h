// Which GPUs of this machine rest because a search found a device that fails. The one that fails is
// the one that is free again first, so that it would be given to one search after another. Pure.
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

  // A job that had them found that one of them fails. Only the first call for a job counts.
  void note(const std::string& job, const std::vector<std::string>& gpus, int64_t now_ms);
  // The job is no longer asked about.
  void forget(const std::string& job) { noted_.erase(job); }
  // Those that rest, and when they failed.
  std::map<std::string, int64_t> resting(int64_t now_ms) const;

 private:
  std::chrono::milliseconds rest_;
  std::map<std::string, int64_t> failed_ms_;
  std::set<std::string> noted_;
};

}  // namespace slurm
