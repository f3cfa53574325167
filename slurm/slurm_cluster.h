// A real Slurm, whatever the transport: what works alike through slurmrestd and through Slurm's
// commands. A transport derives from it and asks the questions.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "slurm/cluster.h"
#include "slurm/job_listing.h"

namespace slurm {

enum class CancelAnswer {
  kAsked,   // Slurm accepted the request: the job ends by and by
  kGone,    // Slurm does not know the job, or it is over
  kFailed,  // no answer, or a refusal
};

// Of one thread, like every Cluster.
class SlurmCluster : public Cluster {
 public:
  Snapshot states() final;
  std::optional<std::vector<JobStatus>> find_by_name(const std::string& name) final;
  // Asks Slurm at most once a minute for each job; Slurm itself sends SIGKILL after KillWait.
  bool cancel(const std::string& job_id) final;
  void forget(const std::string& job_id) final { cancelled_ms_.erase(job_id); }
  // Asks Slurm once an hour, five minutes after a failure.
  int nodes() final;

 protected:
  // As ListedJobs.
  SlurmCluster(std::chrono::milliseconds poll, int requests_per_minute)
      : listed_(poll, requests_per_minute) {}

  // Milliseconds of a clock that never jumps.
  virtual int64_t steady_ms() const = 0;
  // All of our jobs. Not fresh: no request was left, and Slurm was not asked.
  virtual Snapshot list() = 0;
  // Accounting's records of that name, one for each job; none where accounting is not used.
  // nullopt: it could not be asked.
  virtual std::optional<std::vector<JobStatus>> accounting_records(const std::string& name) = 0;
  virtual CancelAnswer request_cancel(const std::string& job_id) = 0;
  // nullopt: Slurm could not be asked.
  virtual std::optional<int> count_nodes() = 0;

 private:
  ListedJobs listed_;
  std::map<std::string, int64_t> cancelled_ms_;  // job id -> when Slurm accepted the request
  int nodes_ = 0;
  std::optional<int64_t> next_nodes_ms_;
};

}  // namespace slurm
