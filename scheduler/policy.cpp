#include "scheduler/policy.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace scheduler {
namespace {

std::string count_of(int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

bool is_ready(const PlanItem& item, int64_t now) {
  return item.state == db::ItemState::kQueued && !item.cancel_requested && item.not_before <= now;
}

bool goes_before(const PlanItem* a, const PlanItem* b) {
  return std::tuple(a->priority, a->created, a->id) < std::tuple(b->priority, b->created, b->id);
}

using ByClass = std::map<db::Priority, int64_t>;

// "3 items before it (2 high, 1 normal)"
std::string queue_before(const ByClass& ahead) {
  int64_t total = 0;
  std::string classes;
  for (const auto& [priority, count] : ahead) {
    total += count;
    classes += (classes.empty() ? "" : ", ") + std::to_string(count) + " " + to_string(priority);
  }
  if (total == 0) return "next in the queue";
  return count_of(total, "item") + " before it (" + classes + ")";
}

std::string slots_busy(int busy, const Snapshot& snapshot) {
  return std::to_string(busy) + " of " + count_of(snapshot.device_slots, "device slot") + " busy";
}

std::string place_in_class(const PlanItem& item, int64_t ready_in_class) {
  if (ready_in_class == 1) return "only ready item of class " + to_string(item.priority);
  return "oldest of " + std::to_string(ready_in_class) + " ready items of class " +
         to_string(item.priority);
}

Decision start(const PlanItem& item, int64_t ready_in_class, int busy, const Snapshot& snapshot) {
  Decision decision{.item_id = item.id, .verdict = Verdict::kStart, .shape = "1 device"};
  decision.explanation = place_in_class(item, ready_in_class) + " and no higher class waits; " +
                         slots_busy(busy, snapshot) + ", so it gets 1 device";
  return decision;
}

Decision wait(const PlanItem& item, const ByClass& ahead, int busy, const Snapshot& snapshot) {
  Decision decision{.item_id = item.id};
  for (const auto& [priority, count] : ahead) decision.ahead += static_cast<int>(count);
  decision.explanation = "waits: ";
  if (!snapshot.lane_hold.empty()) decision.explanation += snapshot.lane_hold + "; ";
  decision.explanation += queue_before(ahead) + "; " + slots_busy(busy, snapshot);
  return decision;
}

std::vector<const PlanItem*> ready_items(const Snapshot& snapshot) {
  std::vector<const PlanItem*> ready;
  for (const PlanItem& item : snapshot.items) {
    if (is_ready(item, snapshot.now)) ready.push_back(&item);
  }
  std::sort(ready.begin(), ready.end(), goes_before);
  return ready;
}

void decide_ready(const Snapshot& snapshot, std::vector<Decision>& decisions) {
  const auto ready = ready_items(snapshot);
  ByClass left;
  for (const PlanItem* item : ready) ++left[item->priority];
  ByClass ahead;
  int busy = snapshot.busy_slots;
  for (const PlanItem* item : ready) {
    if (snapshot.lane_hold.empty() && busy < snapshot.device_slots) {
      decisions.push_back(start(*item, left[item->priority]--, busy++, snapshot));
    } else {
      decisions.push_back(wait(*item, ahead, busy, snapshot));
      ++ahead[item->priority];
    }
  }
}

Decision decide_other(const PlanItem& item, int64_t now) {
  Decision decision{.item_id = item.id};
  if (item.cancel_requested) {
    decision.verdict = Verdict::kRuns;
    decision.explanation = "is being cancelled: waits for its job to stop";
  } else if (item.state == db::ItemState::kHeld) {
    decision.verdict = Verdict::kHeld;
    decision.explanation = "held: `margay release` lets it run";
  } else if (item.state == db::ItemState::kQueued) {
    decision.explanation =
        "waits " + count_of(item.not_before - now, "second") + " more before it is tried again";
  } else {
    decision.verdict = Verdict::kRuns;
    decision.explanation = "has its job on the cluster";
  }
  return decision;
}

bool has_ended(db::ItemState state) {
  switch (state) {
    case db::ItemState::kQueued:
    case db::ItemState::kHeld:
    case db::ItemState::kPlanned:
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

}  // namespace

std::vector<Decision> plan(const Snapshot& snapshot) {
  std::vector<Decision> decisions;
  decide_ready(snapshot, decisions);
  for (const PlanItem& item : snapshot.items) {
    if (has_ended(item.state) || is_ready(item, snapshot.now)) continue;
    decisions.push_back(decide_other(item, snapshot.now));
  }
  return decisions;
}

}  // namespace scheduler
