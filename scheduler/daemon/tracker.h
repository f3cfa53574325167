// Every open attempt against the evidence there is: files, jobs, accounting, absence.
//
// With thousands of attempts a picture in which nothing is new costs no statement, no request and
// no look at the shared file system for each of them: what needs those is asked in turn.
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
#include "scheduler/daemon/job_snapshot.h"
#include "scheduler/daemon/outcomes.h"
#include "scheduler/policy/circuit_breaker.h"
#include "scheduler/policy/transition.h"

namespace scheduler {

class Tracker {
 public:
  Tracker(const DaemonContext& context, CircuitBreaker& breaker);

  // A new picture: begin(), track() for each open attempt by id, finish().
  void begin(const JobSnapshot& snapshot);
  void track(const db::Attempt& attempt);
  void finish();
  // Whether an attempt ended, or got its job, since begin().
  bool moved() const { return moved_; }

  // Between pictures: asks jobs to stop whose item somebody has cancelled since.
  void stop_cancelled(const JobSnapshot& snapshot);

 private:
  struct Absence {
    int64_t since_ms = 0;  // in complete pictures only, without a break
    int64_t ask_ms = 0;    // when accounting is asked again
  };

  bool take_look(const db::Attempt& attempt);
  bool is_news(const db::Attempt& attempt, const slurm::JobStatus* job);
  // An attempt whose submission got no answer.
  void resolve(const db::Attempt& attempt);
  std::optional<std::vector<slurm::JobStatus>> named(const db::Attempt& attempt) const;
  void adopt(db::Attempt attempt, const slurm::JobStatus& job);
  void give_up(const db::Attempt& attempt);
  // An attempt that goes on.
  void keep(const db::Attempt& attempt, const slurm::JobStatus& job, const Outcome& outcome);
  // With everything there is.
  void examine(const db::Attempt& attempt, const slurm::JobStatus* job);
  void add_job(const db::Attempt& attempt, const slurm::JobStatus* job, Evidence& evidence);
  void ask_accounting(const db::Attempt& attempt, Evidence& evidence);
  std::chrono::milliseconds limit_of(const db::Attempt& attempt) const;
  bool files_may_come(const db::Attempt& attempt, const slurm::JobStatus& job);
  void conclude(const db::Attempt& attempt, const Outcome& outcome,
                const std::optional<db::Result>& result);
  void report_to_breaker(const std::string& token, const Outcome& outcome, bool seen);
  void forget(int64_t attempt_id);

  const DaemonContext& context_;
  CircuitBreaker& breaker_;
  const RetryRules rules_;
  const JobSnapshot* snapshot_ = nullptr;
  bool moved_ = false;
  std::vector<OpenChange> changes_;
  std::set<int64_t> to_cancel_;            // items
  std::set<int64_t> asked_;                // of those, between pictures
  std::map<int64_t, Absence> absences_;    // by attempt
  std::map<int64_t, int> looked_up_;       // complete looks that found nothing, by attempt
  std::map<int64_t, int64_t> over_since_;  // when the job was first seen as completed, by attempt
  int64_t looked_to_ = 0;                  // attempts up to this id had their look
  int looks_left_ = 0;
};

}  // namespace scheduler
