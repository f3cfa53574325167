#include "scheduler/policy/policy.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "scheduler/config/config.h"
#include "scheduler/policy/deadlines.h"
#include "scheduler/policy/expected_times.h"
#include "scheduler/policy/filling.h"
#include "scheduler/policy/holds.h"
#include "scheduler/policy/item_widths.h"
#include "scheduler/policy/plan_text.h"
#include "scheduler/policy/ready_order.h"

namespace scheduler {
namespace {

bool is_ready(const PlanItem& item, const QueueSnapshot& snapshot, Holds& holds) {
  return item.state == db::ItemState::kQueued && !item.cancel_requested && !item.unread &&
         item.not_before <= snapshot.now && holds.of(item) == nullptr;
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
        order_(snapshot, deadlines_),
        filling_{.snapshot = snapshot,
                 .busy = snapshot.busy_slots,
                 .pending = snapshot.pending,
                 .pending_apart = snapshot.pending_apart} {
    plan_.made = snapshot.now;
    plan_.limits = snapshot.limits;
    plan_.pause_reason = snapshot.pause_reason;
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
      if (item.state == db::ItemState::kActive) order_.count_job(item);
    }
    plan_.groups = order_.groups();
    const std::vector<Entry> ready = ready_in_order();
    decide_ready(ready);
    for (const Entry& entry : others_) decide_other(entry);
    if (snapshot_.expects_times) expect_times(snapshot_, ready, others_, plan_);
    return std::move(plan_);
  }

 private:
  // The group of the class that has used the least for its share; -1 where the item's own has used
  // no more.
  int first_group(const PlanItem& item) const {
    const int first = filling_.first_group.at(item.priority);
    return order_.use_of(first) < order_.use_of(item.group) ? first : -1;
  }

  void note_group(const PlanItem& item) {
    filling_.groups[item.priority].insert(item.group);
    int& first = filling_.first_group.try_emplace(item.priority, item.group).first->second;
    if (order_.use_of(item.group) < order_.use_of(first)) first = item.group;
  }

  std::vector<Entry> ready_in_order() {
    std::vector<Entry> ready;
    size_t count = 0;
    for (const std::vector<Entry>& of_class : ready_) count += of_class.size();
    ready.reserve(count);
    for (std::vector<Entry>& of_class : ready_) {
      order_.put_in_order(of_class, !plan_.outlooks.empty());
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

  void decide_ready(const std::vector<Entry>& ready) {
    for (const Entry& entry : ready) {
      ++filling_.left[entry.item->priority];
      filling_.owners[entry.item->priority].insert(entry.item->owner);
      if (order_.has_groups()) note_group(*entry.item);
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
    if (order_.has_groups()) reason.first_group = first_group(item);
    Decision& decision = decide(entry, Verdict::kWait, reason);
    decision.group = item.group;
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
  ReadyOrder order_;
  Filling filling_;
  Plan plan_;
  std::array<std::vector<Entry>, std::tuple_size_v<ByClass>> ready_;
  std::vector<Entry> others_;
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
