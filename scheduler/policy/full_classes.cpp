// Implements policy.h: which items have ended, and which classes have as many jobs in the cluster's
// queue as may wait there.
#include "scheduler/policy/filling.h"
#include "scheduler/policy/holds.h"
#include "scheduler/policy/policy.h"

namespace scheduler {

bool has_ended(db::ItemState state) {
  switch (state) {
    case db::ItemState::kQueued:
    case db::ItemState::kHeld:
    case db::ItemState::kActive:
      return false;
    case db::ItemState::kDone:
    case db::ItemState::kFailed:
    case db::ItemState::kCancelled:
    case db::ItemState::kQuarantined:
      return true;
  }
  return true;
}

std::set<db::Priority> full_classes(const QueueSnapshot& snapshot) {
  std::set<db::Priority> classes;
  if (!snapshot.limits.queues) return classes;
  Holds holds(snapshot);
  const Filling filling{
      .snapshot = snapshot, .pending = snapshot.pending, .pending_apart = snapshot.pending_apart};
  for (const PlanItem& item : snapshot.items) {
    if (has_its_share(item, filling) && is_ready(item, snapshot, holds)) {
      classes.insert(item.priority);
    }
  }
  return classes;
}

}  // namespace scheduler
