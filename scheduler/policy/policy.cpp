#include "scheduler/policy/policy.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "scheduler/config/config.h"
#include "scheduler/policy/deadlines.h"
#include "scheduler/policy/holds.h"
#include "scheduler/policy/item_widths.h"
#include "scheduler/policy/plan_text.h"

namespace scheduler {
namespace {

bool is_ready(const PlanItem& item, const QueueSnapshot& snapshot, Holds& holds) {
  return item.state == db::ItemState::kQueued && !item.cancel_requested && !item.unread &&
         item.not_before <= snapshot.now && holds.of(item) == nullptr;
}

bool is_plain(const PlanItem& item) {
  return !asks_of(item).own_options && asks_of(item).lane.empty();
}

size_t number_of(db::Priority priority) { return static_cast<size_t>(priority); }

// An item, and which of the plan's decisions is its own.
struct Entry {
  const PlanItem* item = nullptr;
  uint32_t decision = 0;
  int32_t turn = 0;
};

bool is_older(const Entry& a, const Entry& b) {
  return std::tuple(a.item->created, a.item->id) < std::tuple(b.item->created, b.item->id);
}

// Mostly they are in order already, which costs a tenth of sorting them.
template <typename Before>
void put_in_order(std::vector<Entry>& entries, Before before) {
  if (std::is_sorted(entries.begin(), entries.end(), before)) return;
  std::stable_sort(entries.begin(), entries.end(), before);
}

// Those with a deadline first, the one with the least time to spare before the others.
void put_due_first(Deadlines& deadlines, std::vector<Entry>& entries) {
  const auto others = std::stable_partition(
      entries.begin(), entries.end(), [](const Entry& entry) { return entry.item->finish_by > 0; });
  std::vector<std::pair<int64_t, Entry>> due;
  for (auto entry = entries.begin(); entry != others; ++entry) {
    due.emplace_back(deadlines.latest_start(*entry->item), *entry);
  }
  std::stable_sort(due.begin(), due.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::transform(due.begin(), due.end(), entries.begin(),
                 [](const auto& one) { return one.second; });
}

// The owners take turns: whoever has the fewest jobs goes first, with the first of their items in
// `of_class`.
void take_turns(const std::unordered_map<int64_t, int32_t>& jobs, std::vector<Entry>& of_class) {
  std::unordered_map<int64_t, int32_t> turns = jobs;
  for (Entry& entry : of_class) entry.turn = turns[entry.item->owner]++;
  put_in_order(of_class, [](const Entry& a, const Entry& b) { return a.turn < b.turn; });
}

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
  if (!filling.snapshot.limits.queues || !asks_of(item).own_room) return false;
  const Apart apart = pending_apart(item, filling);
  return apart.of_owner > 0 && apart.of_class >= pending_limit(filling.snapshot);
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

std::string why_this_width(const PlanItem& item, const ClusterLimits& limits) {
  if (!limits.urgent) return "";
  if (item.priority == db::Priority::kUrgent) return ", since it is urgent";
  return ", since only urgent items get " + text_of(limits, *limits.urgent);
}

std::string what_it_gets(const PlanItem& item, const ItemWidth& width,
                         const QueueSnapshot& snapshot) {
  if (asks_of(item).own_width) return "what its own options ask for";
  const std::string text = text_of(snapshot.limits, width.width);
  if (!width.choice) {
    return text + why_this_width(item, snapshot.limits) +
           (width.not_chosen.empty() ? "" : "; no width was chosen, since " + width.not_chosen);
  }
  return text + ": " + explain(width, *snapshot.times[static_cast<size_t>(item.kind)]);
}

bool has_several_groups(db::Priority priority, const Filling& filling) {
  const auto groups = filling.groups.find(priority);
  return groups != filling.groups.end() && groups->second.size() > 1;
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

// "has 1 GPU, and urgent items get 4 nodes (16 GPUs)"
std::string widening_text(const PlanItem& item, const ItemWidth& width,
                          const ClusterLimits& limits) {
  const std::string wide = text_of(limits, width.width);
  return "has " + text_of(limits, *item.width) +
         (width.choice ? ", and with " + wide + " it would be " + explain_instead(width)
                       : ", and urgent items get " + wide);
}

class Planner {
 public:
  explicit Planner(const QueueSnapshot& snapshot)
      : snapshot_(snapshot),
        holds_(snapshot),
        deadlines_(snapshot),
        filling_{.snapshot = snapshot,
                 .busy = snapshot.busy_slots,
                 .pending = snapshot.pending,
                 .pending_apart = snapshot.pending_apart} {
    plan_.made = snapshot.now;
    plan_.limits = snapshot.limits;
    plan_.pause_reason = snapshot.pause_reason;
    plan_.groups = snapshot.groups;
  }

  Plan run() {
    plan_.decisions.reserve(snapshot_.items.size());
    for (const PlanItem& item : snapshot_.items) {
      if (has_ended(item.state)) continue;
      const bool ready = is_ready(item, snapshot_, holds_);
      const auto number = static_cast<uint32_t>(plan_.decisions.size());
      plan_.decisions.push_back({.item_id = item.id, .priority = item.priority});
      if (item.finish_by > 0) add_outlook(item);
      (ready ? ready_[number_of(item.priority)] : others_).push_back({&item, number});
      if (item.state == db::ItemState::kActive) {
        ++jobs_[item.owner];
        count_use(item);
      }
    }
    decide_ready();
    for (const Entry& entry : others_) decide_other(entry);
    return std::move(plan_);
  }

 private:
  double expected_gpu_seconds(const PlanItem& item) const {
    const auto kind = static_cast<size_t>(item.kind);
    const bool known = item.kind >= 0 && kind < snapshot_.times.size() && snapshot_.times[kind];
    return known ? snapshot_.times[kind]->work : snapshot_.usual_job_seconds;
  }

  // A job counts from its submission as what it is expected to use: otherwise the group that has
  // used the least would get all that is free before any of its jobs has run for long.
  void count_use(const PlanItem& item) {
    if (!has_groups()) return;
    double seconds = expected_gpu_seconds(item);
    if (item.width && item.started > 0 && !item.waits) {
      const auto ran = static_cast<double>(snapshot_.now - item.started);
      seconds = std::max(seconds, ran * std::max(1, item.width->gpus()));
    }
    plan_.groups.at(static_cast<size_t>(item.group)).gpu_seconds += seconds;
  }

  bool has_groups() const { return snapshot_.groups.size() > 1; }

  // `of_class` has the owners in turn, and keeps that order within each group.
  void groups_take_turns(std::vector<Entry>& of_class) {
    if (!has_groups()) return;
    std::vector<std::vector<Entry>> of_group(snapshot_.groups.size());
    for (const Entry& entry : of_class) {
      of_group.at(static_cast<size_t>(entry.item->group)).push_back(entry);
    }
    GroupTurns turns(plan_.groups);
    std::vector<size_t> taken(of_group.size(), 0);
    for (size_t group = 0; group < of_group.size(); ++group) {
      if (of_group[group].empty()) turns.leave_out(group);
    }
    for (Entry& entry : of_class) {
      const size_t group = turns.next();
      entry = of_group[group][taken[group]++];
      turns.take(group, expected_gpu_seconds(*entry.item));
      if (taken[group] == of_group[group].size()) turns.leave_out(group);
    }
  }

  // The group of the class that has used the least for its share; -1 where the item's own has used
  // no more.
  int first_group(const PlanItem& item) const {
    const int first = filling_.first_group.at(item.priority);
    return use_of(first) < use_of(item.group) ? first : -1;
  }

  void note_group(const PlanItem& item) {
    filling_.groups[item.priority].insert(item.group);
    int& first = filling_.first_group.try_emplace(item.priority, item.group).first->second;
    if (use_of(item.group) < use_of(first)) first = item.group;
  }

  double use_of(int group) const {
    return use_per_share(plan_.groups.at(static_cast<size_t>(group)));
  }

  std::vector<Entry> ready_in_order() {
    std::vector<Entry> ready;
    for (std::vector<Entry>& of_class : ready_) {
      put_in_order(of_class, is_older);
      if (!plan_.outlooks.empty()) put_due_first(deadlines_, of_class);
      take_turns(jobs_, of_class);
      groups_take_turns(of_class);
      ready.insert(ready.end(), of_class.begin(), of_class.end());
      std::vector<Entry>().swap(of_class);
    }
    if (snapshot_.probing) {
      std::stable_partition(ready.begin(), ready.end(),
                            [](const Entry& entry) { return is_plain(*entry.item); });
    }
    return ready;
  }

  void add_outlook(const PlanItem& item) {
    const auto seconds = deadlines_.least_seconds(item);
    plan_.outlooks.push_back(
        {.item_id = item.id, .done_by = seconds ? snapshot_.now + *seconds : 0});
  }

  void decide_ready() {
    const std::vector<Entry> ready = ready_in_order();
    for (const Entry& entry : ready) {
      ++filling_.left[entry.item->priority];
      filling_.owners[entry.item->priority].insert(entry.item->owner);
      if (has_groups()) note_group(*entry.item);
    }
    filling_.widths.emplace(snapshot_, filling_.left);
    for (const Entry& entry : ready) {
      const PlanItem& item = *entry.item;
      const bool room = snapshot_.pause_reason.empty() && filling_.busy < snapshot_.limits.slots;
      if (room && !has_its_share(item, filling_) && !has_stuck_jobs(item, snapshot_)) {
        start(entry);
      } else {
        wait(entry);
      }
    }
  }

  void start(const Entry& entry) {
    const PlanItem& item = *entry.item;
    const ItemAsks& asks = asks_of(item);
    const ItemWidth width = filling_.widths->of(item);
    filling_.widths->take(item, width);
    Reason reason = reason_to_start(item, filling_);
    reason.text = add_text(what_it_gets(item, width, snapshot_));
    const Decision& decision = decide(entry, Verdict::kStart, reason);
    JobStart start{.item_id = item.id,
                   .priority = item.priority,
                   .width = width.width,
                   .lane = lane_of_width(snapshot_.limits, item.priority, asks.lane, width.width),
                   .size = asks.size,
                   .explanation = sentence(plan_, decision)};
    if (asks.own_room) start.apart = item.owner;
    plan_.starts.push_back(std::move(start));
    --filling_.left.at(item.priority);
    ++filling_.busy;
    add_pending(item, filling_);
  }

  void wait(const Entry& entry) {
    const PlanItem& item = *entry.item;
    int64_t& ahead = filling_.ahead.at(number_of(item.priority));
    Reason reason = reason_to_wait(item, filling_);
    if (has_groups()) reason.first_group = first_group(item);
    if (reason.first_group >= 0) reason.group = item.group;
    Decision& decision = decide(entry, Verdict::kWait, reason);
    decision.count = static_cast<int32_t>(ahead);
    if (!has_stuck_jobs(item, snapshot_)) ++ahead;
  }

  void decide_other(const Entry& entry) {
    const PlanItem& item = *entry.item;
    const bool due = item.not_before <= snapshot_.now;
    if (item.cancel_requested) {
      decide(entry, Verdict::kRuns, {.why = Why::kCancelled});
    } else if (item.state == db::ItemState::kHeld) {
      decide(entry, Verdict::kHeld, {.why = Why::kHeld});
    } else if (item.state == db::ItemState::kActive) {
      decide_active(entry);
    } else if (!due) {
      decide(entry, Verdict::kWait, {.why = Why::kRetry}).count =
          static_cast<int32_t>(item.not_before - snapshot_.now);
    } else if (item.unread) {
      const int text = text_number(holds_.of_reading(item));
      decide(entry, Verdict::kWait, {.why = Why::kUnread, .text = text});
    } else {
      decide(entry, Verdict::kWait, {.why = Why::kHold, .text = text_number(holds_.of(item))});
    }
  }

  // A job that was started with the urgent width stays, although the item's own options asked for
  // less; and so does one whose own options say how large it is, whatever its class.
  void decide_active(const Entry& entry) {
    const PlanItem& item = *entry.item;
    const auto width = item.stoppable ? filling_.widths->instead(item) : std::nullopt;
    if (item.stop_asked) {
      // What it is stopped for is not free for others.
      if (width) filling_.widths->take(item, *width);
      decide(entry, Verdict::kRuns, {.why = Why::kStops});
    } else if (width) {
      decide_wider(entry, *width);
    } else {
      decide(entry, Verdict::kRuns, {.why = Why::kRuns});
    }
  }

  // Stopped only when its next job can be submitted at once, or it would lose its place for
  // nothing.
  void decide_wider(const Entry& entry, const ItemWidth& width) {
    const PlanItem& item = *entry.item;
    const std::string gain = widening_text(item, width, snapshot_.limits);
    const auto kept = snapshot_.not_widened.find(item.id);
    if (kept != snapshot_.not_widened.end() && kept->second.width == width.width) {
      const std::string text = gain + "; its job is not stopped for that: " + kept->second.why;
      decide(entry, Verdict::kRuns, {.why = Why::kWidens, .text = add_text(text)});
      return;
    }
    std::string text = gain + ": it is stopped with a checkpoint and resumes ";
    Verdict verdict = Verdict::kRuns;
    if (!snapshot_.pause_reason.empty()) {
      text += "as soon as jobs are submitted again (" + snapshot_.pause_reason + ")";
    } else if (const std::string* why = holds_.of(item)) {
      text += "as soon as jobs of its kind are submitted (" + *why + ")";
    } else if (!item.waits && has_its_share(item, filling_)) {
      text += "as soon as fewer than " + base::counted(pending_limit(snapshot_), "job") +
              " of class urgent wait in Slurm";
    } else {
      verdict = Verdict::kWiden;
      text += "with those";
      if (!item.waits) add_pending(item, filling_);
      filling_.widths->take(item, width);
      plan_.widenings.push_back({.item_id = item.id, .width = width.width});
    }
    decide(entry, verdict, {.why = Why::kWidens, .text = add_text(text)});
  }

  Decision& decide(const Entry& entry, Verdict verdict, const Reason& reason) {
    Decision& decision = plan_.decisions[entry.decision];
    decision.verdict = verdict;
    decision.reason = number_of_reason(reason);
    return decision;
  }

  // The same reasons come one behind another, or in turn where the items of several kinds do.
  uint32_t number_of_reason(const Reason& reason) {
    constexpr size_t kLookedAt = 16;
    std::vector<Reason>& reasons = plan_.reasons;
    for (size_t back = 1; back <= std::min(kLookedAt, reasons.size()); ++back) {
      const size_t number = reasons.size() - back;
      if (reasons[number] == reason) return static_cast<uint32_t>(number);
    }
    reasons.push_back(reason);
    return static_cast<uint32_t>(reasons.size() - 1);
  }

  int add_text(const std::string& text) {
    plan_.texts.push_back(text);
    return static_cast<int>(plan_.texts.size()) - 1;
  }

  // `text` is one of the snapshot's, or null: many items wait for the same.
  int text_number(const std::string* text) {
    if (text == nullptr) return -1;
    const auto [known, is_new] = texts_.try_emplace(text, 0);
    if (is_new) known->second = add_text(*text);
    return known->second;
  }

  const QueueSnapshot& snapshot_;
  Holds holds_;
  Deadlines deadlines_;
  Filling filling_;
  Plan plan_;
  std::array<std::vector<Entry>, std::tuple_size_v<ByClass>> ready_;
  std::vector<Entry> others_;
  std::unordered_map<int64_t, int32_t> jobs_;  // that run, by owner
  std::unordered_map<const std::string*, int> texts_;
};

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

Plan plan(const QueueSnapshot& snapshot) { return Planner(snapshot).run(); }

}  // namespace scheduler
