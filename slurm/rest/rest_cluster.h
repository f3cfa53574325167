// A real Slurm through slurmrestd. Call it from one thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "slurm/cluster.h"
#include "slurm/rest/http.h"

namespace slurm {

enum class Accounting { kAuto, kOn, kOff };  // kAuto: when slurmrestd offers it

struct RestClusterOptions {
  HttpOptions http;
  std::string token_file{};   // empty: none (a Unix socket with rest_auth/local)
  std::string user{};         // X-SLURM-USER-NAME; empty: the one that the token names
  std::string api_version{};  // "v0.0.40"; empty: the newest that both sides know
  std::string name_prefix;    // "margay-<instance>-": jobs of other names are none of ours
  std::chrono::milliseconds poll{10'000};  // between listings at least; and 5 x the last one's time
  int requests_per_minute = 120;
  Accounting accounting = Accounting::kAuto;
  // Milliseconds that never jump; and seconds since the epoch. Tests set them.
  std::function<int64_t()> steady_ms{};
  std::function<int64_t()> now{};
};

class RestCluster : public Cluster {
 public:
  explicit RestCluster(RestClusterOptions options);
  ~RestCluster() override;

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
