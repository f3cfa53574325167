// A cluster whose jobs run and never end, and that takes no others.
#pragma once

#include <string>
#include <vector>

#include "db/attempts.h"
#include "db/items.h"
#include "slurm/cluster.h"
#include "slurm/cluster_facts.h"

namespace bench {

class StillCluster : public slurm::Cluster {
 public:
  void add(const std::string& name) {
    jobs_.push_back({.job_id = std::to_string(jobs_.size() + 1),
                     .name = name,
                     .state = slurm::JobState::kRunning,
                     .words = "RUNNING",
                     .host = "node1"});
  }

  slurm::SubmitResult submit(const slurm::JobRequest&) override {
    return {.outcome = slurm::SubmitOutcome::kRejected,
            .job_id = "",
            .message = "full",
            .refusal = slurm::Refusal::kBusy};
  }
  bool release(const std::string&) override { return true; }
  slurm::Snapshot states() override { return {.complete = true, .problem = "", .jobs = jobs_}; }
  std::optional<std::vector<slurm::JobStatus>> find_by_name(const std::string&) override {
    return std::vector<slurm::JobStatus>();
  }
  bool cancel(const std::string&) override { return true; }
  bool signal_stop(const std::string&) override { return true; }
  void forget(const std::string&) override {}
  int allowance() override { return 1000; }
  int nodes() override { return 1; }
  slurm::ClusterFacts facts() override { return {}; }
  std::string test_only(const slurm::JobRequest&) override { return ""; }
  std::vector<slurm::Finding> examine(const slurm::Examination&) override { return {}; }
  std::string describe() const override { return "a cluster that is full"; }

 private:
  std::vector<slurm::JobStatus> jobs_;
};

// Items that run there.
inline void occupy_slots(db::Database& database, StillCluster& cluster, int slots) {
  for (int i = 0; i < slots; ++i) {
    const int64_t item =
        db::ItemStore(database).insert({.micrograph_path = "/data/running" + std::to_string(i),
                                        .template_id = 1,
                                        .state = db::ItemState::kActive,
                                        .micrograph_ctime_ns = 1});
    const std::string token = db::token_prefix(database.instance()) + std::to_string(item) + "-a1";
    db::AttemptStore(database).insert({.item_id = item,
                                       .token = token,
                                       .state = db::AttemptState::kRunning,
                                       .shape = "1 device",
                                       .directory = "/tmp/none",
                                       .job_id = std::to_string(i + 1),
                                       .host = "node1"});
    cluster.add(token);
  }
}

}  // namespace bench
