#include "scheduler/policy/filling.h"

#include <algorithm>

#include "scheduler/config/config.h"

namespace scheduler {
namespace {

int pending_of(const PlanItem& item, const Filling& filling) {
  const auto pending = filling.pending.find(item.priority);
  return pending == filling.pending.end() ? 0 : pending->second;
}

struct Apart {
  int of_owner = 0;
  int of_class = 0;
};
Apart pending_apart(const PlanItem& item, const Filling& filling) {
  Apart apart;
  for (const auto& [key, count] : filling.pending_apart) {
    if (key.first != item.priority) continue;
    apart.of_class += count;
    if (key.second == item.owner) apart.of_owner += count;
  }
  return apart;
}

// Of the jobs with room of their own as many wait as of the others, and each owner may have one.
bool has_its_share_apart(const PlanItem& item, const Filling& filling) {
  if (!filling.snapshot.limits.queues || !asks_of(item).own_room) return false;
  const Apart apart = pending_apart(item, filling);
  return apart.of_owner > 0 && apart.of_class >= pending_limit(filling.snapshot);
}

bool has_several_groups(db::Priority priority, const Filling& filling) {
  const auto groups = filling.groups.find(priority);
  return groups != filling.groups.end() && groups->second.size() > 1;
}

}  // namespace

bool is_plain(const PlanItem& item) {
  return !asks_of(item).own_options && asks_of(item).lane.empty();
}

size_t number_of(db::Priority priority) { return static_cast<size_t>(priority); }

int pending_limit(const QueueSnapshot& snapshot) {
  if (snapshot.limits.max_pending > 0) return snapshot.limits.max_pending;
  return std::max(kFewestPending, snapshot.running / 4);
}

bool has_its_share(const PlanItem& item, const Filling& filling) {
  if (!filling.snapshot.limits.queues) return false;
  return pending_of(item, filling) >= pending_limit(filling.snapshot) ||
         has_its_share_apart(item, filling);
}

void add_pending(const PlanItem& item, Filling& filling) {
  if (asks_of(item).own_room) {
    ++filling.pending_apart[{item.priority, item.owner}];
  } else {
    ++filling.pending[item.priority];
  }
}

// Items with options of their own would only add to the jobs of their owner that cannot start.
bool has_stuck_jobs(const PlanItem& item, const QueueSnapshot& snapshot) {
  if (!asks_of(item).own_options) return false;
  const auto stuck = snapshot.stuck.find(item.owner);
  return stuck != snapshot.stuck.end() && stuck->second >= pending_limit(snapshot);
}

Reason reason_to_start(const PlanItem& item, const Filling& filling) {
  return {.why = filling.snapshot.probing ? Why::kProbe : Why::kTurn,
          .priority = item.priority,
          .busy = filling.busy,
          .plain = is_plain(item),
          .others_wait = filling.ahead != ByClass{},
          .owners_in_turn = filling.owners.at(item.priority).size() > 1,
          .groups_in_turn = has_several_groups(item.priority, filling),
          .ready = filling.left.at(item.priority)};
}

Reason reason_to_wait(const PlanItem& item, const Filling& filling) {
  Reason reason{
      .why = Why::kQueue, .priority = item.priority, .busy = filling.busy, .ahead = filling.ahead};
  reason.ahead.at(number_of(item.priority)) = 0;
  if (has_its_share(item, filling)) {
    reason.apart = has_its_share_apart(item, filling);
    reason.jobs = reason.apart ? pending_apart(item, filling).of_class : pending_of(item, filling);
  }
  if (has_stuck_jobs(item, filling.snapshot)) reason.stuck = filling.snapshot.stuck.at(item.owner);
  return reason;
}

}  // namespace scheduler
