// A real Slurm through its commands, where a site has no slurmrestd: sbatch, squeue, sacct,
// scancel, scontrol, sinfo. Call it from one thread.
#pragma once

#include <memory>
#include <string>

#include "slurm/cluster.h"
#include "slurm/cluster_options.h"

namespace slurm {

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
