// The last listing of our jobs, and when the next one is due. Used by one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "slurm/cluster.h"

namespace slurm {

class ListedJobs {
 public:
  // `poll`: least time between two listings. Listings alone never use up `requests_per_minute`.
  ListedJobs(std::chrono::milliseconds poll, int requests_per_minute)
      : poll_ms_(poll.count()), requests_per_minute_(requests_per_minute) {}

  // The result of `list` if the next listing is due, otherwise the last one again, not fresh. If
  // `list` returns a listing that is not fresh, no request was left for it, and it stays due.
  Snapshot states(const std::function<int64_t()>& steady_ms, const std::function<Snapshot()>& list);

  // Whether states() would ask for a listing at this time.
  bool due(int64_t now_ms) const { return !next_ms_ || now_ms >= *next_ms_; }

  // Jobs of that name in the last complete listing. nullopt: there was none yet.
  std::optional<std::vector<JobStatus>> of_name(const std::string& name) const;
  // The job in the last complete listing; nullptr: it is not there.
  const JobStatus* find(const std::string& job_id) const;
  // Whether a complete listing that began after this time (steady, ms) did not have the job.
  bool lacks(const std::string& job_id, int64_t since_ms) const;

 private:
  void plan_next(int64_t began_ms, int64_t latency_ms, bool complete);

  int64_t poll_ms_;
  int requests_per_minute_;
  Snapshot last_;  // the last listing without its jobs
  std::optional<std::vector<JobStatus>> jobs_;
  int64_t jobs_ms_ = 0;  // when the listing of jobs_ began
  std::optional<int64_t> next_ms_;
};

}  // namespace slurm
