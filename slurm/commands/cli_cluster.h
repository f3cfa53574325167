// A real Slurm through its commands, where a site has no slurmrestd: sbatch, squeue, sacct,
// scancel, scontrol, sinfo. Call it from one thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "slurm/cluster.h"
#include "slurm/rest/rest_cluster.h"

namespace slurm {

struct CliClusterOptions {
  std::string commands{};                     // their folder; empty: PATH
  std::chrono::milliseconds timeout{25'000};  // of each command
  std::string name_prefix;                    // "margay-<instance>-"
  std::string scratch;                        // folder for the script that sbatch reads
  std::chrono::milliseconds poll{10'000};     // as RestClusterOptions
  int requests_per_minute = 120;
  Accounting accounting = Accounting::kAuto;  // kAuto: when sacct answers
  std::function<int64_t()> steady_ms{};
};

class CliCluster : public Cluster {
 public:
  explicit CliCluster(CliClusterOptions options);
  ~CliCluster() override;

  SubmitResult submit(const JobRequest& request) override;
  bool release(const std::string& job_id) override;
  Snapshot states() override;
  std::optional<std::vector<JobStatus>> find_by_name(const std::string& name) override;
  bool cancel(const std::string& job_id) override;
  bool signal_stop(const std::string& job_id) override;
  void forget(const std::string& job_id) override;
  int allowance() override;
  int nodes() override;
  std::string test_only(const JobRequest& request) override;
  std::vector<Finding> examine(const Examination& what) override;
  std::string describe() const override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slurm
