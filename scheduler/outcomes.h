// Stores what became of an attempt and of its item, in one transaction.
#pragma once

#include <optional>

#include "db/records.h"
#include "scheduler/transition.h"
#include "scheduler/workplace.h"

namespace scheduler {

// By cause, of the item's attempts since the last `retry`.
Failures failures_of(const std::vector<db::Attempt>& attempts, int forgiven);

RetryRules retry_rules(const Config& config);

// Writes nothing when the stored attempt has ended already: terminal states never flip.
// `before` and `after` are crash points around the commit.
void store_outcome(const Workplace& workplace, db::Attempt attempt, const Outcome& outcome,
                   const std::optional<db::Result>& result, const char* before, const char* after);

}  // namespace scheduler
