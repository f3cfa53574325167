#include "scheduler/policy/policy.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "scheduler/config/config.h"
#include "scheduler/policy/item_widths.h"
#include "scheduler/policy/lanes.h"

namespace scheduler {
namespace {

const std::string* text_at(const std::map<int64_t, std::string>& texts, int64_t key) {
  const auto found = texts.find(key);
  return found == texts.end() ? nullptr : &found->second;
}

// Why no job of its lane, or of its size there, may be submitted, or none for its files; null when
// one may.
const std::string* hold_of(const PlanItem& item, const QueueSnapshot& snapshot) {
  const HangingFiles& hanging = snapshot.hanging_files;
  if (const std::string* why = text_at(hanging.micrographs, item.owner)) return why;
  if (const std::string* why = text_at(hanging.volumes, item.template_id)) return why;
  for (const std::string& lane : {item.lane, sized_lane(item.lane, item.size)}) {
    const auto held = snapshot.held_lanes.find(lane);
    if (held != snapshot.held_lanes.end()) return &held->second;
  }
  return nullptr;
}

bool is_ready(const PlanItem& item, const QueueSnapshot& snapshot) {
  return item.state == db::ItemState::kQueued && !item.cancel_requested && !item.unread &&
         item.not_before <= snapshot.now && hold_of(item, snapshot) == nullptr;
}

bool is_plain(const PlanItem& item) { return !item.own_options && item.lane.empty(); }

bool goes_before(const PlanItem* a, const PlanItem* b) {
  return std::tuple(a->priority, a->created, a->id) < std::tuple(b->priority, b->created, b->id);
}

// Within a class the owners take turns: whoever has the fewest jobs goes first, with the oldest
// item. `ready` is sorted by class and age.
void take_turns(const QueueSnapshot& snapshot, std::vector<const PlanItem*>& ready) {
  std::map<int64_t, int64_t> jobs;
  for (const PlanItem& item : snapshot.items) {
    if (item.state == db::ItemState::kActive) ++jobs[item.owner];
  }
  std::map<const PlanItem*, int64_t> turns;
  std::map<std::pair<db::Priority, int64_t>, int64_t> before;  // of the same class and owner
  for (const PlanItem* item : ready) {
    turns[item] = jobs[item->owner] + before[{item->priority, item->owner}]++;
  }
  std::stable_sort(ready.begin(), ready.end(), [&](const PlanItem* a, const PlanItem* b) {
    return std::tuple(a->priority, turns[a]) < std::tuple(b->priority, turns[b]);
  });
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
  return base::counted(total, "item") + " before it (" + classes + ")";
}

std::string slots_busy(int busy, const QueueSnapshot& snapshot) {
  if (snapshot.limits.queues) {
    return std::to_string(busy) + " of " + base::counted(snapshot.limits.slots, "job") +
           " in Slurm";
  }
  return std::to_string(busy) + " of " + base::counted(snapshot.limits.slots, "device slot") +
         " busy";
}

std::string place_in_class(const PlanItem& item, int64_t ready_in_class, bool owners_take_turns) {
  if (ready_in_class == 1) return "only ready item of class " + to_string(item.priority);
  return (owners_take_turns ? "its owner's turn among " : "oldest of ") +
         std::to_string(ready_in_class) + " ready items of class " + to_string(item.priority);
}

// The state of the loop over the ready items.
struct Filling {
  const QueueSnapshot& snapshot;
  int busy = 0;
  std::map<db::Priority, int> pending{};
  std::map<std::pair<db::Priority, int64_t>, int> pending_apart{};
  ByClass left{};                                      // ready items that the loop has not reached
  ByClass ahead{};                                     // ready items that wait
  std::map<db::Priority, std::set<int64_t>> owners{};  // of ready items
  std::optional<ItemWidths> widths{};
};

int pending_limit(const QueueSnapshot& snapshot) {
  if (snapshot.limits.max_pending > 0) return snapshot.limits.max_pending;
  return std::max(kFewestPending, snapshot.running / 4);
}

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
  if (!filling.snapshot.limits.queues || !item.own_room) return false;
  const Apart apart = pending_apart(item, filling);
  return apart.of_owner > 0 && apart.of_class >= pending_limit(filling.snapshot);
}

bool has_its_share(const PlanItem& item, const Filling& filling) {
  if (!filling.snapshot.limits.queues) return false;
  return pending_of(item, filling) >= pending_limit(filling.snapshot) ||
         has_its_share_apart(item, filling);
}

void add_pending(const PlanItem& item, Filling& filling) {
  if (item.own_room) {
    ++filling.pending_apart[{item.priority, item.owner}];
  } else {
    ++filling.pending[item.priority];
  }
}

// Items with options of their own would only add to the jobs of their owner that cannot start.
bool has_stuck_jobs(const PlanItem& item, const QueueSnapshot& snapshot) {
  const auto stuck = snapshot.stuck.find(item.owner);
  return item.own_options && stuck != snapshot.stuck.end() &&
         stuck->second >= pending_limit(snapshot);
}

bool is_for_urgent(const PlanItem& item, const QueueSnapshot& snapshot) {
  return item.priority == db::Priority::kUrgent && snapshot.limits.urgent.has_value();
}

const Width& width_for(const PlanItem& item, const QueueSnapshot& snapshot) {
  return is_for_urgent(item, snapshot) ? *snapshot.limits.urgent : snapshot.limits.width;
}

std::string why_this_width(const PlanItem& item, const QueueSnapshot& snapshot) {
  if (!snapshot.limits.urgent) return "";
  if (is_for_urgent(item, snapshot)) return ", since it is urgent";
  return ", since only urgent items get " + text_of(snapshot.limits, *snapshot.limits.urgent);
}

std::string why_now(const PlanItem& item, const Filling& filling) {
  if (filling.snapshot.probing) {
    return std::string("tries for all items whether jobs run again") +
           (is_plain(item) ? ", since it has no options of its own; " : "; ");
  }
  return place_in_class(item, filling.left.at(item.priority),
                        filling.owners.at(item.priority).size() > 1) +
         (filling.ahead.empty() ? " and no higher class waits; "
                                : "; of each higher class as many jobs wait in Slurm as may; ");
}

std::string what_it_gets(const PlanItem& item, const ItemWidth& width, const Filling& filling) {
  if (item.own_width) return "what its own options ask for";
  const std::string text = text_of(filling.snapshot.limits, width.width);
  if (!width.choice) return text + why_this_width(item, filling.snapshot);
  return text + ": " + explain(width, filling.snapshot.times[static_cast<size_t>(item.time)]);
}

Decision start(const PlanItem& item, Filling& filling) {
  const ItemWidth width = filling.widths->of(item);
  filling.widths->take(item, width);
  Decision decision{.item_id = item.id,
                    .verdict = Verdict::kStart,
                    .width = width.width,
                    .lane = item.lane,
                    .size = item.size,
                    .priority = item.priority};
  if (item.own_room) decision.apart = item.owner;
  decision.explanation = why_now(item, filling);
  decision.explanation += slots_busy(filling.busy, filling.snapshot) + ", so it gets ";
  decision.explanation += what_it_gets(item, width, filling);
  return decision;
}

// Of its kind; empty when these are not what it waits for.
std::string already_waiting(const PlanItem& item, const Filling& filling) {
  if (!has_its_share(item, filling)) return "";
  const bool apart = has_its_share_apart(item, filling);
  const int jobs = apart ? pending_apart(item, filling).of_class : pending_of(item, filling);
  return base::counted(jobs, "job") + " of class " + to_string(item.priority) +
         (apart ? " that ask for nodes, GPUs, processors or memory of their own" : "") +
         (jobs == 1 ? " waits" : " wait") + " in Slurm already; ";
}

Decision wait(const PlanItem& item, const Filling& filling) {
  Decision decision{.item_id = item.id};
  for (const auto& [priority, count] : filling.ahead) decision.ahead += static_cast<int>(count);
  decision.explanation = "waits: ";
  const std::string& hold = filling.snapshot.pause_reason;
  if (!hold.empty()) decision.explanation += hold + "; ";
  decision.explanation += already_waiting(item, filling);
  if (has_stuck_jobs(item, filling.snapshot)) {
    decision.explanation += base::counted(filling.snapshot.stuck.at(item.owner), "job") +
                            " of its owner with options of their own cannot start; ";
  }
  decision.explanation +=
      queue_before(filling.ahead) + "; " + slots_busy(filling.busy, filling.snapshot);
  return decision;
}

std::vector<const PlanItem*> ready_items(const QueueSnapshot& snapshot) {
  std::vector<const PlanItem*> ready;
  for (const PlanItem& item : snapshot.items) {
    if (is_ready(item, snapshot)) ready.push_back(&item);
  }
  std::sort(ready.begin(), ready.end(), goes_before);
  take_turns(snapshot, ready);
  if (snapshot.probing) {
    std::stable_partition(ready.begin(), ready.end(),
                          [](const PlanItem* item) { return is_plain(*item); });
  }
  return ready;
}

void decide_ready(Filling& filling, std::vector<Decision>& decisions) {
  const QueueSnapshot& snapshot = filling.snapshot;
  const auto ready = ready_items(snapshot);
  for (const PlanItem* item : ready) {
    ++filling.left[item->priority];
    filling.owners[item->priority].insert(item->owner);
  }
  filling.widths.emplace(snapshot, filling.left);
  for (const PlanItem* item : ready) {
    const bool room = snapshot.pause_reason.empty() && filling.busy < snapshot.limits.slots;
    if (room && !has_its_share(*item, filling) && !has_stuck_jobs(*item, snapshot)) {
      decisions.push_back(start(*item, filling));
      --filling.left[item->priority];
      ++filling.busy;
      add_pending(*item, filling);
    } else {
      decisions.push_back(wait(*item, filling));
      if (!has_stuck_jobs(*item, snapshot)) ++filling.ahead[item->priority];
    }
  }
}

// A job that was started with the urgent width stays, although the item's own options asked for
// less; and so does one whose own options say how large it is, whatever its class.
std::optional<ItemWidth> wider(const PlanItem& item, Filling& filling) {
  return item.stoppable ? filling.widths->instead(item) : std::nullopt;
}

// Stopped only when its next job can be submitted at once, or it would lose its place for nothing.
void decide_wider(const PlanItem& item, const ItemWidth& width, Filling& filling,
                  Decision& decision) {
  const QueueSnapshot& snapshot = filling.snapshot;
  decision.width = width.width;
  const std::string wide = text_of(snapshot.limits, width.width);
  const std::string has = "has " + text_of(snapshot.limits, *item.width) +
                          (width.choice ? ", and with " + wide + " it is " + explain_instead(width)
                                        : ", and urgent items get " + wide);
  const std::string resumes = "it is stopped with a checkpoint and resumes ";
  if (!snapshot.pause_reason.empty()) {
    decision.explanation = has + ": " + resumes + "as soon as jobs are submitted again (" +
                           snapshot.pause_reason + ")";
  } else if (const std::string* why = hold_of(item, snapshot)) {
    decision.explanation =
        has + ": " + resumes + "as soon as jobs of its kind are submitted (" + *why + ")";
  } else if (!item.waits && has_its_share(item, filling)) {
    decision.explanation = has + ": " + resumes + "as soon as fewer than " +
                           base::counted(pending_limit(snapshot), "job") +
                           " of class urgent wait in Slurm";
  } else {
    decision.verdict = Verdict::kWiden;
    decision.explanation = has + ": " + resumes + "with those";
    if (!item.waits) add_pending(item, filling);
    filling.widths->take(item, width);
  }
}

Decision decide_active(const PlanItem& item, Filling& filling) {
  Decision decision{.item_id = item.id, .verdict = Verdict::kRuns};
  if (item.stop_asked) {
    decision.width = width_for(item, filling.snapshot);
    decision.explanation = "stopping with a checkpoint, to resume with " +
                           text_of(filling.snapshot.limits, *decision.width);
  } else if (const auto width = wider(item, filling)) {
    decide_wider(item, *width, filling, decision);
  } else {
    decision.explanation = "running";
  }
  return decision;
}

Decision decide_other(const PlanItem& item, Filling& filling) {
  Decision decision{.item_id = item.id};
  if (item.cancel_requested) {
    decision.verdict = Verdict::kRuns;
    decision.explanation = "being cancelled: waiting for its job to stop";
  } else if (item.state == db::ItemState::kHeld) {
    decision.verdict = Verdict::kHeld;
    decision.explanation = "held (margay release " + std::to_string(item.id) + ")";
  } else if (item.state == db::ItemState::kQueued && item.unread &&
             item.not_before <= filling.snapshot.now) {
    const std::string* why = text_at(filling.snapshot.hanging_files.unread, item.owner);
    decision.explanation = "waits: its micrograph is being read, or those of items before it";
    if (why != nullptr) decision.explanation += "; " + *why;
  } else if (item.state == db::ItemState::kQueued && item.not_before <= filling.snapshot.now) {
    decision.explanation = "waits: " + *hold_of(item, filling.snapshot);
  } else if (item.state == db::ItemState::kQueued) {
    decision.explanation = "waiting " +
                           base::counted(item.not_before - filling.snapshot.now, "second") +
                           " before a retry";
  } else {
    return decide_active(item, filling);
  }
  return decision;
}

}  // namespace

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
  const Filling filling{
      .snapshot = snapshot, .pending = snapshot.pending, .pending_apart = snapshot.pending_apart};
  for (const PlanItem& item : snapshot.items) {
    if (is_ready(item, snapshot) && has_its_share(item, filling)) classes.insert(item.priority);
  }
  return classes;
}

std::vector<Decision> plan(const QueueSnapshot& snapshot) {
  std::vector<Decision> decisions;
  Filling filling{.snapshot = snapshot,
                  .busy = snapshot.busy_slots,
                  .pending = snapshot.pending,
                  .pending_apart = snapshot.pending_apart};
  decide_ready(filling, decisions);
  for (const PlanItem& item : snapshot.items) {
    if (has_ended(item.state) || is_ready(item, snapshot)) continue;
    decisions.push_back(decide_other(item, filling));
  }
  return decisions;
}

}  // namespace scheduler
