// The tick: recover, track, plan, submit. The only place that changes the cluster.
//
// tick() is called by one thread and may block as long as the cluster does. status(), last_plan(),
// pause_reason() and hanging_files() may be called by any thread and return at once, whatever the
// cluster does.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/records.h"
#include "scheduler/clock.h"
#include "scheduler/commands/known_queue.h"
#include "scheduler/commands/published_plan.h"
#include "scheduler/config/config.h"
#include "scheduler/crash_point.h"
#include "scheduler/daemon/context.h"
#include "scheduler/daemon/daemon_status.h"
#include "scheduler/daemon/fresh_jobs.h"
#include "scheduler/daemon/hardware_faults.h"
#include "scheduler/daemon/in_hand.h"
#include "scheduler/daemon/job_snapshot.h"
#include "scheduler/daemon/micrograph_reader.h"
#include "scheduler/daemon/orphans.h"
#include "scheduler/daemon/tracker.h"
#include "scheduler/daemon/used_by_groups.h"
#include "scheduler/daemon/widener.h"
#include "scheduler/daemon/width_inputs.h"
#include "scheduler/policy/policy.h"
#include "scheduler/states/circuit_breaker.h"
#include "scheduler/states/clock_jumps.h"
#include "scheduler/states/lanes.h"
#include "slurm/cluster.h"

namespace scheduler {

struct DaemonOptions {
  CrashHook crash{};
  // Take one line for the administrator: what happens, and what goes wrong. `warn` not set: as
  // `log`.
  std::function<void(const std::string&)> log{};
  std::function<void(const std::string&)> warn{};
  // Returns the free bytes on the disk of a folder; not set: asks the system.
  std::function<int64_t(const std::string&)> free_bytes{};
  // How long users' file systems are waited for, and what is called before a user's file is opened,
  // by the thread that opens it; may be unset.
  OwnerThreadLimits file_threads{};
  std::function<void(const std::string&)> before_open{};
};

class Daemon {
 public:
  // The database, the cluster and the clock must outlive the daemon.
  Daemon(const Config& config, db::Database& database, slurm::Cluster& cluster, const Clock& clock,
         DaemonOptions options = {});
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // One round. Throws nothing for faults: the next round retries, and status() has the first fault.
  void tick();
  // Call it before the first tick, on the thread that ticks: see InHand.
  void note_crashes() const { in_hand_.note_crashes(); }
  // Call it from another thread before the process ends without waiting for the tick.
  void abandon_work() const { in_hand_.abandon(); }
  // See MicrographReader::read_some(). Call it on a thread of its own.
  bool read_micrographs() { return reader_.read_some(); }
  // For any thread.
  void stop_reading() { reader_.stop(); }
  DaemonStatus status() const;
  // The last tick's plan; null before the first. For any thread.
  LastPlan last_plan() const { return plans_.last(); }
  // For any thread.
  HangingFiles hanging_files() const;
  // Why nothing is submitted at present; empty when submissions are allowed.
  std::string pause_reason() const;

 private:
  void set_poison_aside();
  void follow_clock();
  void move_times(int64_t now, int64_t seconds);
  void round();
  void look_at(slurm::Snapshot&& snapshot);
  Jobs ours(slurm::Snapshot&& snapshot) const;
  std::vector<db::Attempt> track();
  void stop_orphans(const std::vector<db::Attempt>& open);
  void forget_ended();
  void forget_host_failures();
  // Logs rows that cannot be read, since everything else leaves them out silently.
  void look_for_unreadable_rows();
  bool may_ask();
  bool may_submit();
  bool is_paused() const;
  bool is_lane_paused(const JobStart& start) const;
  void note_ended_jobs();
  std::map<std::string, std::string> held_lanes() const;
  void plan_and_submit(bool complete);
  void count_fresh_jobs(QueueSnapshot& snapshot);
  LastPlan make_plan(const std::string& pause, bool looks);
  void carry_out(const Plan& plan);
  std::string why_nothing_starts() const;
  bool launch(const JobStart& start);
  void guarded(const std::string& what, const std::function<void()>& action);
  void note_hanging_files();
  void publish();

  DaemonContext context_;
  ClusterLimits limits_;
  ClockJumps clock_jumps_;
  // The times that the last daemon stored were corrected once since the start.
  bool times_moved_ = false;
  CircuitBreaker breaker_;
  Lanes lanes_;
  Lanes sizes_;  // by sized_lane(), for items that ask for more than the site does
  HardwareFaults hardware_{context_, breaker_};
  Tracker tracker_{context_, breaker_, hardware_};
  Orphans orphans_{context_};
  MicrographReader reader_;
  InHand in_hand_;
  FreshJobs fresh_;
  WidthInputs widths_{context_};
  UsedByGroups used_{context_};
  Widener widener_{context_};
  KnownQueue queue_;
  PlanBoard plans_;
  std::map<db::Priority, int64_t> idle_since_;  // Plan::idle_since of the last plan
  JobSnapshot snapshot_;                        // the last fresh snapshot
  // The last submission got no answer: only a snapshot shows its job.
  bool awaits_snapshot_ = false;
  std::string snapshot_problem_;  // first problem of the last snapshot
  std::string last_problem_;
  std::string launch_pause_;    // why the last launch stopped; asked again at every tick
  HangingFiles hanging_files_;  // as last logged for the administrator
  int64_t host_failures_forgotten_ = 0;
  int64_t rows_read_ = 0;        // when look_for_unreadable_rows() last read them
  std::string unreadable_rows_;  // a sentence; empty: there are none
  DaemonStatus next_;            // this tick's status; `problem` is the first problem

  mutable std::mutex mutex_;
  DaemonStatus status_;  // the last tick's status; guarded by mutex_
};

}  // namespace scheduler
