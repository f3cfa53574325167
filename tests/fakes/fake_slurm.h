// The cluster behind the fake slurmrestd: it really runs the scripts, as child processes in
// sessions of their own, with the environment, signals and states that Slurm gives them. One slot
// is one job. Safe to call from any thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/fakes/fake_job.h"

namespace tests {

struct FakeSlurmOptions {
  std::string folder;  // of the scripts
  int slots = 4;
  std::vector<std::string> partitions{"main", "short", "closed"};  // nothing starts in the last
  std::chrono::milliseconds start_delay{10};       // until a job starts at the earliest
  std::chrono::milliseconds requeue_delay{100};    // until a requeued one starts again
  std::chrono::milliseconds kill_wait{1000};       // between SIGTERM and SIGKILL
  std::chrono::milliseconds completing{0};         // how long an ended job is COMPLETING at least
  std::chrono::milliseconds min_job_age{300'000};  // until an ended job is forgotten
  std::chrono::milliseconds accounting_lag{0};
  std::chrono::milliseconds minute{60'000};  // of time limits
};

class FakeSlurm {
 public:
  explicit FakeSlurm(FakeSlurmOptions options);
  ~FakeSlurm();  // kills what still runs
  FakeSlurm(const FakeSlurm&) = delete;
  FakeSlurm& operator=(const FakeSlurm&) = delete;

  const FakeSlurmOptions& options() const { return options_; }

  int64_t submit(const FakeJobRequest& request);
  std::vector<FakeJob> jobs() const;
  std::optional<FakeJob> job(int64_t id) const;
  // As slurmdbd knows them, by name; every one when `name` is empty.
  std::vector<FakeJob> accounting(const std::string& name = "") const;
  // Pending, running or still ending.
  int alive() const;
  // How often a job was started.
  int starts() const;

  // False: there is no such job.
  bool set_held(int64_t id, bool held);
  bool cancel(int64_t id);
  bool signal_steps(int64_t id, int number);

  // The faults that fake_faults.h describes.
  void forget_jobs_of_the_last(std::chrono::milliseconds time);
  void requeue_youngest();
  void kill_node_of_youngest();
  void purge();

 private:
  struct Process {
    FakeJob job;
    int64_t serial = 0;
    pid_t leader = 0;             // 0: none
    bool leader_ended = false;    // not reaped yet, so that its number stays taken
    int64_t asked_to_end_ms = 0;  // of the steady clock, like all below
    int64_t not_before_ms = 0;
    int64_t started_ms = 0;
    int64_t ended_ms = 0;
    bool warned = false;
    std::string ends_as;  // "" = by its exit
    bool requeued = false;
  };
  struct Entry {
    int64_t due_ms = 0;
    FakeJob job;
  };

  void run();
  void watch(Process& process);
  void watch_time(Process& process);
  void notice_end_of_leader(Process& process);
  void settle(Process& process);
  void end(Process& process, const std::string& as);
  void start(Process& process);
  void start_pending();
  bool may_start(Process& process) const;
  Process* find(int64_t id);
  Process* youngest_running();
  void record(const Process& process);

  FakeSlurmOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::map<int64_t, Process> processes_;              // by id
  std::vector<Process> lost_;                         // forgotten, their processes on their way out
  std::map<int64_t, std::vector<Entry>> accounting_;  // by serial
  int64_t next_id_ = 1;
  int64_t next_serial_ = 1;
  int starts_ = 0;
  std::thread thread_;
};

}  // namespace tests
