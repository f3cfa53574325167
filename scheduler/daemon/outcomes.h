// Stores what became of an attempt and of its item, in one transaction.
#pragma once

#include <optional>
#include <vector>

#include "db/records.h"
#include "scheduler/daemon/context.h"
#include "scheduler/policy/transition.h"

namespace scheduler {

RetryRules retry_rules(const Config& config);

// Names of the crash points around a commit.
struct CommitPoints {
  const char* before;
  const char* after;
};

// Writes nothing when the stored attempt has ended already: terminal states never flip. What may
// be the host's fault is remembered of the host. `quiet`: the administrator knows already.
void store_outcome(const DaemonContext& context, db::Attempt attempt, const Outcome& outcome,
                   CommitPoints points, const std::optional<db::Result>& result = std::nullopt,
                   bool quiet = false);

// An attempt that goes on, with what the cluster says of it now.
struct OpenChange {
  db::Attempt attempt{};
  bool new_state = false;  // said to the administrator
};
void store_open(const DaemonContext& context, const std::vector<OpenChange>& changes);

}  // namespace scheduler
