// Queues for the tests of the policy.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/policy/queue_snapshot.h"
#include "tests/unit/scheduler/policy/decided.h"

namespace scheduler {

inline PlanItem item(int64_t id, db::Priority priority, int64_t created = 0) {
  return {.id = id, .priority = priority, .created = created};
}

inline QueueSnapshot snapshot_of(std::vector<PlanItem> items, int slots, int busy = 0) {
  QueueSnapshot snapshot;
  snapshot.now = 1000;
  snapshot.limits.slots = slots;
  snapshot.busy_slots = busy;
  snapshot.items = std::move(items);
  return snapshot;
}

// A cluster with a queue of its own.
inline QueueSnapshot queueing(std::vector<PlanItem> items, int slots) {
  QueueSnapshot snapshot = snapshot_of(std::move(items), slots);
  snapshot.limits.queues = true;
  snapshot.limits.width = {};
  return snapshot;
}

// Items with the numbers from `first_id`.
inline std::vector<PlanItem> many(int count, db::Priority priority, int64_t first_id = 1) {
  std::vector<PlanItem> items;
  for (int i = 0; i < count; ++i) items.push_back(item(first_id + i, priority));
  return items;
}

inline std::string explanation(const QueueSnapshot& snapshot, int64_t id) {
  for (const Decided& decision : decided(snapshot)) {
    if (decision.item_id == id) return decision.explanation;
  }
  return "no decision";
}

}  // namespace scheduler
