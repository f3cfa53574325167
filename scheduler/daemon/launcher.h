// Submits one item to the cluster, once: the attempt is stored before anything is submitted, and
// the cluster's answer after it. Not thread-safe; the tick is the only caller.
#pragma once

#include <string>

#include "db/records.h"
#include "scheduler/commands/plan_attempt.h"
#include "scheduler/daemon/context.h"
#include "scheduler/policy/circuit_breaker.h"
#include "scheduler/policy/policy.h"

namespace scheduler {

struct LaunchResult {
  bool submitted = false;   // a request was sent, whatever its outcome
  bool unanswered = false;  // it got no answer, so that there may or may not be a job
  // Why nothing else can be launched either, until the next tick; empty when it can.
  std::string hold{};
};

class Launcher {
 public:
  Launcher(const DaemonContext& context, CircuitBreaker& breaker)
      : context_(context), breaker_(breaker) {}

  // Quarantines an item that cannot run, and fails one whose own options are wrong.
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

}  // namespace scheduler
