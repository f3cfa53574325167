// Judges every open attempt by the evidence: files, jobs, accounting, absence.
//
// With thousands of attempts, a snapshot without news costs no statement, no request and no look at
// the shared file system per attempt: attempts that need one of these take turns. Not thread-safe;
// the tick is the only caller.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "db/records.h"
#include "scheduler/daemon/context.h"
#include "scheduler/daemon/hardware_faults.h"
#include "scheduler/daemon/job_snapshot.h"
#include "scheduler/daemon/outcomes.h"
#include "scheduler/states/circuit_breaker.h"
#include "scheduler/states/heartbeats.h"
#include "scheduler/states/stall_watch.h"
#include "scheduler/states/transition.h"

namespace scheduler {

class Tracker {
 public:
  Tracker(const DaemonContext& context, CircuitBreaker& breaker, HardwareFaults& hardware);

  // For each new snapshot: begin(), track() for each open attempt in the order of their ids,
  // finish(). `snapshot` must live until finish(). track() throws what the database and the file
  // system throw; the next snapshot retries.
  void begin(const JobSnapshot& snapshot);
  void track(const db::Attempt& attempt);
  void finish();
  // True when an attempt has ended, or got its job, since begin().
  bool moved() const { return moved_; }
  // The items of attempts that had a job and have ended since begin().
  const std::vector<int64_t>& ended_items() const { return ended_items_; }
  // Why the ends of jobs could not be judged since begin(); empty when they could.
  const std::string& away() const { return away_; }

  // Between snapshots: asks jobs to stop whose items were cancelled since the last snapshot.
  void stop_cancelled(const JobSnapshot& snapshot);

 private:
  struct Absence {
    // Both by the boot clock.
    int64_t since_ms = 0;  // since when it is missing from all complete snapshots
    int64_t ask_ms = 0;    // when accounting is asked next
  };
  // What accounting knows of a job that the snapshot lacks.
  struct Lookup {
    std::optional<slurm::JobStatus> job{};
    bool vanished = false;
  };

  bool take_turn(const db::Attempt& attempt);
  // Ends the job of a search that makes no progress. Returns true when this call asked for the end.
  bool end_stalled(const db::Attempt& attempt, const slurm::JobStatus& job);
  bool is_news(const db::Attempt& attempt, const slurm::JobStatus* job);
  // For an attempt whose submission got no answer.
  bool is_late(const db::Attempt& attempt);
  void resolve(const db::Attempt& attempt);
  std::optional<std::vector<slurm::JobStatus>> named(const db::Attempt& attempt) const;
  void adopt(db::Attempt attempt, const slurm::JobStatus& job);
  // True while some process still writes into the attempt's folder.
  bool is_claim_alive(const db::Attempt& attempt);
  void give_up(const db::Attempt& attempt);
  // For an attempt that stays open.
  void keep(const db::Attempt& attempt, const slurm::JobStatus& job, const Outcome& outcome);
  void give_up_probe(const db::Attempt& attempt);
  // Gathers all evidence and stores what follows from it.
  void examine(const db::Attempt& attempt, const slurm::JobStatus* job);
  // Without the folder of jobs no end can be judged: neither results nor claims are seen.
  bool is_folder_away();
  Lookup ask_accounting(const db::Attempt& attempt);
  std::chrono::milliseconds limit_of(const db::Attempt& attempt) const;
  bool files_may_come(const db::Attempt& attempt, const slurm::JobStatus& job);
  void conclude(const db::Attempt& attempt, const Outcome& outcome,
                const std::optional<db::Result>& result);
  void report_to_breaker(const std::string& token, const Outcome& outcome, bool seen);
  void forget(int64_t attempt_id);

  const DaemonContext& context_;
  CircuitBreaker& breaker_;
  HardwareFaults& hardware_;
  const RetryRules rules_;
  const JobSnapshot* snapshot_ = nullptr;
  bool moved_ = false;
  std::vector<int64_t> ended_items_;
  std::vector<OpenChange> changes_;
  bool looked_for_folder_ = false;
  std::string away_;
  // Attempts whose end was first seen while the folder was missing.
  std::set<int64_t> ended_unseen_;
  std::set<int64_t> to_cancel_;  // items
  std::set<int64_t> asked_;      // those of to_cancel_ asked between snapshots
  StallWatch stalls_;
  std::map<int64_t, Absence> absences_;  // by attempt
  std::map<int64_t, int> looked_up_;     // by attempt: number of complete answers without its name
  // By attempt, times of the boot clock: when its job was first seen as completed, and since when
  // its submission has had no answer.
  std::map<int64_t, int64_t> over_since_;
  std::map<int64_t, int64_t> unanswered_since_;
  Heartbeats heartbeats_;
  int64_t looked_to_ = 0;  // attempts up to this id have been looked at
  int looks_left_ = 0;
};

}  // namespace scheduler
