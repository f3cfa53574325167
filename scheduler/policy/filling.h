// What the loop over the ready items keeps: how many jobs of each class wait in the cluster
// already, and what the reasons of those that start and wait are made of. Pure.
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
  std::map<db::Priority, std::set<int>> groups{};      // ... where there are several
  std::map<db::Priority, int> first_group{};           // of these the one with the least use
  std::optional<ItemWidths> widths{};
};

size_t number_of(db::Priority priority);

// No options of its own say where or how its job runs.
bool is_plain(const PlanItem& item);

// How many jobs of a class wait in the cluster at most.
int pending_limit(const QueueSnapshot& snapshot);

// As many jobs of its class wait there as may.
bool has_its_share(const PlanItem& item, const Filling& filling);

// As many jobs of its owner as may wait cannot start.
bool has_stuck_jobs(const PlanItem& item, const QueueSnapshot& snapshot);

// Its job is submitted.
void add_pending(const PlanItem& item, Filling& filling);

Reason reason_to_start(const PlanItem& item, const Filling& filling);
Reason reason_to_wait(const PlanItem& item, const Filling& filling);

}  // namespace scheduler
