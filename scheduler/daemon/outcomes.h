// Stores the outcomes of attempts, each together with its item in one transaction.
#pragma once

#include <optional>
#include <vector>

#include "db/records.h"
#include "scheduler/daemon/context.h"
#include "scheduler/daemon/in_hand.h"
#include "scheduler/states/transition.h"

namespace scheduler {

RetryRules retry_rules(const Config& config);

// Names of the crash points around a commit.
struct CommitPoints {
  const char* before;
  const char* after;
};

// Writes nothing when the stored attempt has ended already: terminal states never flip. A failure
// that indicates a bad host is stored for that host. `quiet`: the administrator's log has the
// outcome already.
void store_outcome(const DaemonContext& context, db::Attempt attempt, const Outcome& outcome,
                   CommitPoints points, const std::optional<db::Result>& result = std::nullopt,
                   bool quiet = false);

// Quarantines the suspect's item and ends its open attempt, without a look at its files. An item
// that has ended stays as it is.
void quarantine_poison(const DaemonContext& context, const Suspect& suspect);

// Pauses submissions, since the daemon ends at the work of one item after another: the items are
// not the cause. An administrator's pause stays as it is.
void pause_after_crashes(const DaemonContext& context, const Suspect& suspect);

// An attempt that stays open, with what the cluster reports of it.
struct OpenChange {
  db::Attempt attempt{};
  bool new_state = false;  // the state changed: the administrator's log gets it
};
void store_open(const DaemonContext& context, const std::vector<OpenChange>& changes);

}  // namespace scheduler
