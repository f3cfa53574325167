// A real Slurm with either transport: the logic that slurmrestd and Slurm's commands share. A
// transport derives from it and makes the requests.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "slurm/cluster.h"
#include "slurm/cluster_facts.h"
#include "slurm/job_listing.h"

namespace slurm {

enum class CancelAnswer {
  kAsked,   // Slurm accepted the request: the job will end
  kGone,    // Slurm does not know the job, or it is over
  kFailed,  // no answer, or a refusal
};

enum class ListingScope {
  kOurs,
  kEverybody,  // also other users' jobs that run or wait
};

struct Listing {
  Snapshot ours{};
  // Ours included; filled for kEverybody when the listing is complete.
  std::vector<QueuedJob> everybody{};
};

// Used by one thread, like every Cluster.
class SlurmCluster : public Cluster {
 public:
  Snapshot states() final;
  std::optional<std::vector<JobStatus>> find_by_name(const std::string& name) final;
  // Asks Slurm at most once a minute for each job; Slurm itself sends SIGKILL after KillWait.
  bool cancel(const std::string& job_id) final;
  void forget(const std::string& job_id) final { cancelled_ms_.erase(job_id); }
  // Asks Slurm once an hour, or five minutes after a failure.
  int nodes() final;
  // Makes two requests for nodes and partitions, and one for the jobs unless the listing of
  // states() already has everybody's.
  ClusterFacts facts() final;
  // Also asks for the limits that slurmdbd keeps, once an hour or five minutes after a failure.
  ClusterFacts facts_with_limits() final;

 protected:
  // Arguments as for ListedJobs.
  SlurmCluster(std::chrono::milliseconds poll, int requests_per_minute)
      : listed_(poll, requests_per_minute) {}

  // Milliseconds of a clock that never jumps.
  virtual int64_t steady_ms() const = 0;
  // Lists jobs by one request. A listing that is not fresh: no request was left, and Slurm was not
  // asked.
  virtual Listing list(ListingScope scope) = 0;
  // Whether a listing of our jobs contains everybody's anyway, so that one listing serves both.
  virtual bool lists_everybody() const = 0;
  // Asks for nodes and partitions, by one request each; adds the user and the time.
  virtual SiteFacts ask_site() = 0;
  // Asks what slurmdbd knows, with accounting_requests() requests at most.
  virtual void ask_accounting(SiteFacts& site) = 0;
  virtual int accounting_requests() const = 0;
  // Accounting's records of that name, one for each job; empty where accounting is not used.
  // nullopt: accounting could not be asked.
  virtual std::optional<std::vector<JobStatus>> accounting_records(const std::string& name) = 0;
  virtual CancelAnswer request_cancel(const std::string& job_id) = 0;
  // nullopt: Slurm could not be asked.
  virtual std::optional<int> count_nodes() = 0;

 private:
  Listing list_for_states();
  Listing everybodys_jobs();
  void refresh_accounting();

  ListedJobs listed_;
  std::map<std::string, int64_t> cancelled_ms_;  // job id -> when Slurm accepted the request
  int nodes_ = 0;
  std::optional<int64_t> next_nodes_ms_;
  bool wants_everybody_ = false;      // facts() was called
  std::optional<Listing> everybody_;  // from the last listing that was to contain them
  UnseenByNode unseen_;
  SiteFacts accounting_;  // only what copy_accounting() copies
  std::optional<int64_t> next_accounting_ms_;
};

}  // namespace slurm
