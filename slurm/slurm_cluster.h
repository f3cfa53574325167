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
#include "slurm/cluster_facts.h"
#include "slurm/job_listing.h"

namespace slurm {

enum class CancelAnswer {
  kAsked,   // Slurm accepted the request: the job ends by and by
  kGone,    // Slurm does not know the job, or it is over
  kFailed,  // no answer, or a refusal
};

enum class ListingScope {
  kOurs,
  kEverybody,  // those of others, too, that run or wait
};

struct Listing {
  Snapshot ours{};
  std::vector<QueuedJob> everybody{};  // with ours; of kEverybody, when it is complete
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
  // Two requests for nodes and partitions; one for the jobs unless the listing of states() has
  // everybody's.
  ClusterFacts facts() final;
  // And once an hour those for the limits that slurmdbd keeps, five minutes after a failure.
  ClusterFacts facts_with_limits() final;

 protected:
  // As ListedJobs.
  SlurmCluster(std::chrono::milliseconds poll, int requests_per_minute)
      : listed_(poll, requests_per_minute) {}

  // Milliseconds of a clock that never jumps.
  virtual int64_t steady_ms() const = 0;
  // Jobs by one request. Not fresh: no request was left, and Slurm was not asked.
  virtual Listing list(ListingScope scope) = 0;
  // Whether a listing of our jobs has everybody's all the same, so that one is enough for both.
  virtual bool lists_everybody() const = 0;
  // Nodes and partitions by a request each, the user and the time.
  virtual SiteFacts ask_site() = 0;
  // What slurmdbd knows, by so many requests at most.
  virtual void ask_accounting(SiteFacts& site) = 0;
  virtual int accounting_requests() const = 0;
  // Accounting's records of that name, one for each job; none where accounting is not used.
  // nullopt: it could not be asked.
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
  bool wants_everybody_ = false;      // since facts() was called
  std::optional<Listing> everybody_;  // of the last listing that was to have them
  UnseenByNode unseen_;
  SiteFacts accounting_;  // what copy_accounting() takes
  std::optional<int64_t> next_accounting_ms_;
};

}  // namespace slurm
