// The cluster without Slurm: scripts run as child processes of this machine, each in a session of
// its own. A job's state is in its folder (job_folder.h), never in this process, so that margayd
// may be killed at any instant and find every job again. Call it from one thread.
#pragma once

#include <chrono>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "slurm/cluster.h"
#include "slurm/cluster_facts.h"
#include "slurm/job/job_folder.h"
#include "slurm/job/process_identity.h"
#include "slurm/local/free_gpus.h"
#include "slurm/local/gpu_rests.h"
#include "slurm/machine_gpus.h"

namespace slurm {

struct LocalClusterOptions {
  std::filesystem::path folder;  // one folder per job; belongs to one daemon at a time
  std::filesystem::path helper;  // margay-job; empty: beside this program
  // Jobs that ask for GPUs (--gres=gpu:N) get N of these, in order of submission. A job sees only
  // its own GPUs and gives them back when its last process has ended.
  std::vector<Gpu> gpus{};
  std::string gpus_note{};  // how they were found, if the doctor should report it
  // The jobs' folder of another local cluster that uses the same GPUs; may be empty. GPUs that its
  // jobs hold are not free here.
  std::filesystem::path neighbour{};
  int slots = 1;  // jobs without GPUs that run at once; others wait, in order of submission
  std::chrono::milliseconds kill_wait = std::chrono::seconds(30);
  // How long a failed GPU is not given out while there are others.
  std::chrono::milliseconds gpu_rest = std::chrono::minutes(10);
  // How long a wrapper may take to start before another one is started.
  std::chrono::milliseconds start_grace = std::chrono::seconds(5);
  std::filesystem::path proc = "/proc";
  std::filesystem::path boot_id = "/proc/sys/kernel/random/boot_id";
};

class LocalCluster : public Cluster {
 public:
  explicit LocalCluster(LocalClusterOptions options);

  SubmitResult submit(const JobRequest& request) override;
  bool release(const std::string&) override { return true; }  // nothing is ever held
  Snapshot states() override;
  std::optional<std::vector<JobStatus>> find_by_name(const std::string& name) override;
  bool cancel(const std::string& job_id) override;
  bool signal_stop(const std::string& job_id) override;
  void forget(const std::string& job_id) override;
  int allowance() override { return std::numeric_limits<int>::max(); }
  int nodes() override { return 1; }
  // One node in one partition, "local". Without GPUs, the slots stand in for them. There are no
  // other limits.
  ClusterFacts facts() override;
  std::string test_only(const JobRequest& request) override;
  std::vector<Finding> examine(const Examination& what) override;
  std::string describe() const override;

 private:
  struct Job {
    JobStatus status;
    LocalRequest request;
    std::optional<ProcessIdentity> process;  // the script's
    std::optional<ProcessIdentity> wrapper;
    std::vector<std::string> gpus;  // given to it, whether it has started or not
    bool waits = false;             // no wrapper has started it
    bool ended = false;
  };

  std::filesystem::path path_of(const std::string& name) const { return options_.folder / name; }
  std::optional<Job> find(const std::string& name) const;
  Job observe(const std::string& name, const JobFolder& folder) const;
  Job look_at(const std::string& name) const;
  Job changed_job(const std::string& name, const std::string& why) const;
  void judge_vanished(Job& job) const;
  void continue_wrapper(const Job& job) const;
  std::vector<Job> all_jobs() const;
  QueuedJob queued_job_of(const Job& job) const;
  std::vector<ProcessIdentity> processes_of(const Job& job) const;
  void claim(const JobRequest& request);
  bool is_on_its_way(const Job& job) const;
  FreeGpus free_gpus(const std::vector<Job>& jobs) const;
  void start_waiting(std::vector<Job>& jobs);
  std::string give_gpus(const Job& job, FreeGpus& free);
  std::string resting_gpus() const;
  std::string start_wrapper(const std::string& name);
  void remove_folder(const std::string& name);

  LocalClusterOptions options_;
  ProcessTable processes_;
  std::string host_;
  // Wrappers that this process started and that may not run yet.
  std::map<std::string, int64_t> spawned_ms_;
  GpuRests gpu_rests_;
  std::set<std::string> asked_to_end_;  // by this process
  // For cancelled jobs whose wrappers still run: since when they have had no process, by the boot
  // clock in ms.
  std::map<std::string, int64_t> without_processes_;
};

}  // namespace slurm
