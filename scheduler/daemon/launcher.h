// One item to the cluster, once: the attempt is on the disk before anything is submitted, and what
// the cluster answers after it.
#pragma once

#include <string>

#include "db/records.h"
#include "scheduler/commands/plan_attempt.h"
#include "scheduler/daemon/context.h"
#include "scheduler/policy/circuit_breaker.h"
#include "scheduler/policy/policy.h"

namespace scheduler {

struct LaunchResult {
  bool submitted = false;   // a request went out, whatever became of it
  bool unanswered = false;  // nobody knows whether there is a job now
  // Why nothing else can be launched either; asked anew at the next tick. Empty = it can.
  std::string hold{};
};

class Launcher {
 public:
  Launcher(const DaemonContext& context, CircuitBreaker& breaker)
      : context_(context), breaker_(breaker) {}

  // An item that cannot run is quarantined, one whose own options are wrong has failed.
  LaunchResult launch(const Decision& decision);

 private:
  std::string check_inputs(const db::Item& item, const db::Template& search_template) const;
  std::string check_room(const db::Item& item) const;
  db::Attempt prepare(const db::Item& item, const db::Template& search_template,
                      const Decision& decision) const;
  PlanContext plan_context() const;
  void forget_hosts(const db::Item& item) const;
  bool store_intent(db::Attempt& attempt) const;
  LaunchResult submit(db::Attempt attempt, const db::Item& item);
  void accept(db::Attempt attempt, const slurm::SubmitResult& answer);
  void refuse(const db::Attempt& attempt, const db::Item& item, const slurm::SubmitResult& answer);
  void end_item(const db::Item& item, db::ItemState state, const std::string& reason) const;
  void postpone(db::Item item, const std::string& reason) const;
  LaunchResult blame_options(const db::Item& item, const Decision& decision,
                             const std::string& problem) const;

  const DaemonContext& context_;
  CircuitBreaker& breaker_;
};

// How the file differs from what was registered: "is missing", "changed ..."; empty = it does not.
// Throws std::system_error when the file cannot be looked at, which proves nothing.
std::string how_changed(const std::string& path, int64_t bytes, int64_t mtime_ns);

}  // namespace scheduler
