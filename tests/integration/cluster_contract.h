// What every cluster does alike, whatever stands behind slurm::Cluster: one set of sentences
// (cluster_contract.cpp), run for each ContractCluster that a test program instantiates:
//   INSTANTIATE_TEST_SUITE_P(Here, ClusterContract, ::testing::ValuesIn(...), name_of_cluster);
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "slurm/cluster.h"

namespace tests {

// One cluster at work. Whatever it started is gone when this is.
class ContractSite {
 public:
  virtual ~ContractSite() = default;
  // A client of it; each one as a daemon that was just started.
  virtual std::unique_ptr<slurm::Cluster> client() = 0;
  // Where its jobs may read and write.
  virtual std::filesystem::path folder() const = 0;
  // What every name must begin with.
  virtual std::string prefix() const { return "margay-contract-"; }
};

// What not every cluster can do.
struct ContractAbilities {
  bool holds = true;           // a held job waits for its release
  bool repeats_names = true;   // a name submitted twice makes two jobs, the second a singleton
  bool has_partitions = true;  // an unknown one is refused
  bool runs_steps = true;      // by srun
  bool counts_gpus = true;     // JobStatus::gpus
  bool spares_script = true;   // a request to stop is for the steps alone
};

struct ContractCluster {
  std::string name;     // of letters and digits
  std::string missing;  // what of it is missing on this machine; empty: nothing
  ContractAbilities can{};
  std::function<std::unique_ptr<ContractSite>()> make;
};

inline void PrintTo(const ContractCluster& cluster, std::ostream* out) { *out << cluster.name; }
inline std::string name_of_cluster(const ::testing::TestParamInfo<ContractCluster>& info) {
  return info.param.name;
}

class ClusterContract : public ::testing::TestWithParam<ContractCluster> {
 protected:
  void SetUp() override;

  const ContractAbilities& can() const { return GetParam().can; }
  // A job that appends its name to `ran`, then does `then`.
  slurm::JobRequest request(const std::string& name, const std::string& then) const;
  // Asserts that it was accepted. Returns its id.
  std::string submit(const slurm::JobRequest& request);
  std::string submit(const std::string& name, const std::string& then);

  // The job in the next complete snapshot.
  std::optional<slurm::JobStatus> look(const std::string& job_id);
  bool becomes(const std::string& job_id, slurm::JobState state);
  // Returns how; asserts that it does.
  slurm::JobStatus end_of(const std::string& job_id);
  bool is_cancelled(const std::string& job_id);
  std::vector<slurm::JobStatus> found(const std::string& name);
  int times_run(const std::string& name) const;
  // A line of a script that waits until let_go().
  std::string wait_line() const;
  void let_go() const;
  // The engine's like: says when it is there, and reports SIGUSR1.
  std::string step_line() const;

  std::string full(const std::string& name) const { return site_->prefix() + name; }
  std::string log_of(const std::string& name) const;
  static bool becomes_true(const std::function<bool()>& condition);

  std::unique_ptr<ContractSite> site_;
  std::unique_ptr<slurm::Cluster> cluster_;
};

}  // namespace tests
