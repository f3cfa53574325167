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
  if (snapshot.cluster_queues) {
    return std::to_string(busy) + " of " + count_of(snapshot.device_slots, "job") + " in Slurm";
  }
  return std::to_string(busy) + " of " + count_of(snapshot.device_slots, "device slot") + " busy";
}

std::string place_in_class(const PlanItem& item, int64_t ready_in_class) {
  if (ready_in_class == 1) return "only ready item of class " + to_string(item.priority);
  return "oldest of " + std::to_string(ready_in_class) + " ready items of class " +
         to_string(item.priority);
}

// How far the loop over the ready items has come.
struct Filling {
  const Snapshot& snapshot;
  int busy = 0;
  std::map<db::Priority, int> pending{};
  ByClass left{};   // ready items that have not been looked at
  ByClass ahead{};  // ready items that wait
};

constexpr int kFewestPending = 4;

int pending_limit(const Snapshot& snapshot) {
  if (snapshot.max_pending > 0) return snapshot.max_pending;
  return std::max(kFewestPending, snapshot.running / 4);
}

bool has_its_share(const PlanItem& item, const Filling& filling) {
  if (!filling.snapshot.cluster_queues) return false;
  const auto pending = filling.pending.find(item.priority);
  return pending != filling.pending.end() && pending->second >= pending_limit(filling.snapshot);
}

Decision start(const PlanItem& item, const Filling& filling) {
  const std::string& shape = filling.snapshot.shape;
  Decision decision{.item_id = item.id, .verdict = Verdict::kStart, .shape = shape};
  decision.explanation = place_in_class(item, filling.left.at(item.priority));
  decision.explanation += filling.ahead.empty()
                              ? " and no higher class waits; "
                              : "; of each higher class as many jobs wait in Slurm as may; ";
  decision.explanation += slots_busy(filling.busy, filling.snapshot) + ", so it gets " + shape;
  return decision;
}

Decision wait(const PlanItem& item, const Filling& filling) {
  Decision decision{.item_id = item.id};
  for (const auto& [priority, count] : filling.ahead) decision.ahead += static_cast<int>(count);
  decision.explanation = "waits: ";
  const std::string& hold = filling.snapshot.lane_hold;
  if (!hold.empty()) decision.explanation += hold + "; ";
  if (has_its_share(item, filling)) {
    const int pending = filling.pending.at(item.priority);
    decision.explanation += count_of(pending, "job") + " of class " + to_string(item.priority) +
                            (pending == 1 ? " waits" : " wait") + " in Slurm already; ";
  }
  decision.explanation +=
      queue_before(filling.ahead) + "; " + slots_busy(filling.busy, filling.snapshot);
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
  Filling filling{.snapshot = snapshot, .busy = snapshot.busy_slots, .pending = snapshot.pending};
  for (const PlanItem* item : ready) ++filling.left[item->priority];
  for (const PlanItem* item : ready) {
    const bool room = snapshot.lane_hold.empty() && filling.busy < snapshot.device_slots;
    if (room && !has_its_share(*item, filling)) {
      decisions.push_back(start(*item, filling));
      --filling.left[item->priority];
      ++filling.busy;
      ++filling.pending[item->priority];
    } else {
      decisions.push_back(wait(*item, filling));
      ++filling.ahead[item->priority];
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
