// The state of the loop over the ready items: how many jobs of each class already wait in the
// cluster, and the figures for the reasons of items that start and wait. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "scheduler/policy/item_widths.h"
#include "scheduler/policy/plan.h"
#include "scheduler/policy/queue_snapshot.h"

namespace scheduler {

// The state of the loop over the ready items.
struct Filling {
  const QueueSnapshot& snapshot;
  int busy = 0;
  std::map<db::Priority, int> pending{};
  std::map<std::pair<db::Priority, int64_t>, int> pending_apart{};
  std::map<db::Priority, int64_t> left{};              // ready items that the loop has not reached
  ByClass ahead{};                                     // ready items that wait
  std::map<db::Priority, std::set<int64_t>> owners{};  // of ready items
  std::map<db::Priority, std::set<int>> groups{};      // their groups, if there are several
  std::map<db::Priority, int> first_group{};           // of these groups the one with the least use
  std::optional<ItemWidths> widths{};
};

size_t number_of(db::Priority priority);

// True when the item has no options that say where or how its job runs.
bool is_plain(const PlanItem& item);

// How many jobs of a class wait in the cluster at most.
int pending_limit(const QueueSnapshot& snapshot);

// True when as many jobs of its class wait in the cluster as may.
bool has_its_share(const PlanItem& item, const Filling& filling);

// True when the item has options of its own and as many of its owner's jobs cannot start as may
// wait.
bool has_stuck_jobs(const PlanItem& item, const QueueSnapshot& snapshot);

// Counts the item's job as submitted and waiting.
void add_pending(const PlanItem& item, Filling& filling);

Reason reason_to_start(const PlanItem& item, const Filling& filling);
Reason reason_to_wait(const PlanItem& item, const Filling& filling);

}  // namespace scheduler
