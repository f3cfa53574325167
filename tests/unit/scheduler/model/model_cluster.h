// A Slurm of the mind, in virtual time: it queues, runs, loses, forgets, requeues and purges jobs
// as a seed decides. Its jobs follow the rules of the script templates on the real files of their
// attempts, and what ran is remembered here, apart from the daemon's database.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "slurm/cluster.h"
#include "slurm/cluster_facts.h"
#include "tests/unit/scheduler/model/model_random.h"

namespace tests {

// How often what happens, of a thousand; all 0 = a cluster that does its work.
struct ModelFaults {
  // Of a submission.
  int lose_answer = 0;   // accepted, and the answer is lost
  int lose_request = 0;  // never arrived, and nobody knows
  int late = 0;          // no answer, and the job is created up to a minute later
  int twice = 0;         // two jobs of one name
  int broken = 0;        // an exception instead of an answer
  int refuse = 0;
  // Of a second.
  int outage = 0;    // no answer to anything for up to five minutes
  int forget = 0;    // the controller crashes and forgets what it took in the last seconds
  int outsider = 0;  // somebody cancels, holds or requeues a job
  int node = 0;      // a running job loses its node, is preempted or runs out of time
  // Of a snapshot.
  int incomplete = 0;
  int strange_word = 0;
  // Of a run.
  int fail = 0;
  int lost_release = 0;  // of a release: done or not, and nobody knows
};

struct ModelRun {
  std::string token;
  int64_t item = 0;
  int number = 0;
  std::string job_id;
  bool alive = true;
  bool finished = false;  // left a manifest
};

class ModelCluster : public slurm::Cluster {
 public:
  ModelCluster(uint64_t seed, int requests_per_minute, bool accounting);

  ModelFaults faults{};
  // Virtual time of the cluster's own clock, which never jumps.
  void pass(int64_t ms);
  // What was held, hidden or late comes right.
  void clear_faults();
  bool idle() const;
  // Whether the controller has this job, and it has not ended.
  bool has_living(const std::string& job_id, const std::string& name) const;

  // --- what really happened ---
  const std::vector<ModelRun>& runs() const { return runs_; }
  const std::map<std::string, int>& submitted() const { return submitted_; }
  // Items that were failed, cancelled or refused by the cluster or its people: these may end
  // otherwise than DONE.
  const std::set<int64_t>& blamed() const { return blamed_; }
  const std::string& violation() const { return violation_; }
  int faults_done() const { return faults_done_; }

  slurm::SubmitResult submit(const slurm::JobRequest& request) override;
  bool release(const std::string& job_id) override;
  slurm::Snapshot states() override;
  std::optional<std::vector<slurm::JobStatus>> find_by_name(const std::string& name) override;
  bool cancel(const std::string& job_id) override;
  bool signal_stop(const std::string& job_id) override;
  void forget(const std::string&) override {}
  int allowance() override;
  int nodes() override { return kNodes; }
  slurm::ClusterFacts facts() override { return {.problem = "the model has no facts"}; }
  std::string test_only(const slurm::JobRequest&) override { return "would start now"; }
  std::vector<slurm::Finding> examine(const slurm::Examination&) override { return {}; }
  std::string describe() const override { return "model"; }

 private:
  static constexpr int kNodes = 16;
  static constexpr int kAtOnce = 3;  // jobs that run at once

  struct Job {
    slurm::JobStatus status{};
    std::string folder{};
    int64_t item = 0;
    int number = 0;
    bool admin_hold = false;
    int64_t eligible_ms = 0;  // not before
    int64_t stop_ms = 0;      // asked to stop: when it does; 0 = not asked
    bool signalled = false;   // by a signal alone, not cancelled
    int64_t claim_ms = 0;     // when its script takes the claim; 0 = it does not any more
    int64_t done_ms = 0;      // when its script ends by itself
    int64_t look_ms = 0;      // at the fence
    int64_t clean_ms = 0;     // until then COMPLETING
    int64_t purge_ms = 0;
    int exit_code = 0;  // of its script
    int run = -1;       // in runs_; -1 = its script does not search
    bool gone = false;
    slurm::JobState end = slurm::JobState::kCompleted;
  };
  struct Late {
    slurm::JobRequest request;
    int64_t at_ms = 0;
  };
  // A process whose job the controller has forgotten.
  struct Ghost {
    Job job;
    int64_t dies_ms = 0;
  };

  void second();
  void step(Job& job);
  void step_ghosts();
  void bad_luck();
  void crash_controller();
  void trouble(Job& job);
  void outside_hands(Job& job);
  std::string create(const slurm::JobRequest& request);
  bool may_start(const Job& job) const;
  void start(Job& job);
  void begin_script(Job& job);
  void claim(Job& job);
  void begin_run(Job& job);
  void work(Job& job);
  void finish_run(Job& job);
  void stop_run(Job& job, bool checkpoint);
  void end_job(Job& job, slurm::JobState state, std::optional<int> exit_code);
  void requeue(Job& job);
  bool is_fenced(const Job& job) const;
  bool take_claim(const Job& job) const;
  void touch(const std::string& path) const;
  bool send();
  slurm::JobStatus seen(const Job& job);
  Job* find(const std::string& job_id);
  void blame(const Job& job);
  void violate(const std::string& what);
  int64_t seconds() const;
  int running() const;

  ModelRandom random_;
  int per_minute_;
  bool accounting_;
  int64_t now_ms_ = 0;
  int64_t budget_x1000_ = 0;
  int64_t outage_until_ms_ = 0;
  int64_t next_snapshot_ms_ = 0;
  int64_t next_id_ = 100;
  std::deque<Job> jobs_;
  std::vector<Late> late_;
  std::deque<Ghost> ghosts_;
  std::vector<slurm::JobStatus> accounts_;
  slurm::Snapshot last_;
  std::vector<ModelRun> runs_;
  std::map<std::string, int> submitted_;
  std::set<int64_t> blamed_;
  std::deque<int64_t> sent_ms_;
  std::string violation_;
  int faults_done_ = 0;
};

}  // namespace tests
