#include "scheduler/policy/policy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "scheduler/config/config.h"
#include "scheduler/policy/active_items.h"
#include "scheduler/policy/deadlines.h"
#include "scheduler/policy/expected_times.h"
#include "scheduler/policy/filling.h"
#include "scheduler/policy/floors.h"
#include "scheduler/policy/holds.h"
#include "scheduler/policy/item_widths.h"
#include "scheduler/policy/plan_draft.h"
#include "scheduler/policy/plan_text.h"
#include "scheduler/policy/ready_order.h"
#include "scheduler/policy/width_text.h"

namespace scheduler {
namespace {

class Planner {
 public:
  explicit Planner(const QueueSnapshot& snapshot)
      : snapshot_(snapshot),
        holds_(snapshot),
        deadlines_(snapshot),
        order_(snapshot, deadlines_),
        floors_(snapshot),
        filling_{.snapshot = snapshot,
                 .busy = snapshot.busy_slots,
                 .pending = snapshot.pending,
                 .pending_apart = snapshot.pending_apart} {
    plan_.made = snapshot.now;
    plan_.limits = snapshot.limits;
    plan_.pause_reason = snapshot.pause_reason;
    plan_.bounds = snapshot.bounds;
    plan_.knows_gpus = snapshot.gpus.has_value();
    plan_.usual_job_seconds = snapshot.usual_job_seconds;
    plan_.floors = floors_.all();
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
    start_by_floor(ready);
    for (const Entry& entry : ready) {
      const PlanItem& item = *entry.item;
      if (by_floor_.contains(item.id)) continue;
      if (has_slot() && may_join_queue(item) && !has_stuck_jobs(item, snapshot_)) {
        start(entry);
      } else {
        note_full(item);
        wait(entry);
      }
    }
    note_floors();
  }

  // In the cluster.
  bool may_join_queue(const PlanItem& item) {
    if (has_its_share(item, filling_) && !may_take_spare_gpu(item)) return false;
    return !would_pass_higher(item);
  }

  // Beyond its class's number of waiting jobs: it is not to wait there, but to start.
  bool may_take_spare_gpu(const PlanItem& item) const {
    const ItemWidths& widths = *filling_.widths;
    return snapshot_.limits.max_pending == 0 && !asks_of(item).own_room &&
           !has_own_place(snapshot_.limits, item) && widths.has_spare_gpu();
  }

  // The next items of this class are to be submitted as soon as fewer of its jobs wait for these
  // GPUs: until then nothing of a lower class may be put in the cluster's queue before them.
  void note_full(const PlanItem& item) {
    if (full_ || !has_its_share(item, filling_) || asks_of(item).own_room) return;
    if (!has_own_place(snapshot_.limits, item)) full_ = item.priority;
  }

  // Whether it belongs behind the items of a full higher class: it does unless a GPU is free that
  // no job is expected to take. What has its own place does not compete with them.
  bool would_pass_higher(const PlanItem& item) {
    if (!full_ || *full_ >= item.priority || has_own_place(snapshot_.limits, item)) return false;
    none_free_ = none_free_ || !filling_.widths->has_free_gpu();
    return none_free_;
  }

  bool has_slot() const {
    return snapshot_.pause_reason.empty() && filling_.busy < snapshot_.limits.slots;
  }

  // The next items of the classes that have less than their floors, while items of higher classes
  // are ready that compete for the same GPUs.
  void start_by_floor(const std::vector<Entry>& ready) {
    if (snapshot_.probing) return;
    const auto competes = [this](const Entry& entry) {
      return !has_own_place(snapshot_.limits, *entry.item);
    };
    const auto over = std::find_if(ready.begin(), ready.end(), competes);
    if (over == ready.end()) return;
    const db::Priority highest = over->item->priority;
    for (const auto& of_class : snapshot_.limits.floors) {
      const db::Priority priority = of_class.first;
      Floor* floor = floors_.of(priority);
      if (floor == nullptr || priority < highest) continue;
      const auto is_higher = [&](const Entry& entry) { return entry.item->priority < priority; };
      const auto from = std::partition_point(ready.begin(), ready.end(), is_higher);
      const auto to = std::find_if(
          from, ready.end(), [&](const Entry& entry) { return entry.item->priority != priority; });
      auto next = std::find_if(from, to, competes);
      if (next != to) add_bound(*floor, *next->item);
      if (priority == highest) continue;
      submit_anew_by_floor(from, to, priority, highest);
      while (next != to && start_one_by_floor(*next, highest)) {
        next = std::find_if(std::next(next), to, competes);
      }
    }
  }

  // Jobs that wait in the cluster among those of their class may wait there for as long as items of
  // higher classes come. `from` to `to` are the ready items of the class: one that was stopped for
  // this is among them, and nothing newer is stopped in its place.
  void submit_anew_by_floor(std::vector<Entry>::const_iterator from,
                            std::vector<Entry>::const_iterator to, db::Priority priority,
                            db::Priority over) {
    if (!snapshot_.pause_reason.empty()) return;
    for (const Entry& entry : others_) {
      const PlanItem& item = *entry.item;
      const bool waits = item.priority == priority && item.stoppable && item.waits;
      if (!waits || item.by_floor || item.stop_asked || item.cancel_requested) continue;
      if (has_own_place(snapshot_.limits, item) || !item.width ||
          snapshot_.not_widened.contains(item.id)) {
        continue;
      }
      if (holds_.of(item) != nullptr) continue;
      const double turn = filling_.widths->turn_seconds(item, {.width = *item.width});
      if (!floors_.is_due(priority, *item.width, turn)) return;
      const bool is_oldest = std::none_of(from, to, [&](const Entry& ready) {
        return std::pair(ready.item->created, ready.item->id) < std::pair(item.created, item.id);
      });
      if (!is_oldest) continue;
      floors_.take(priority, *item.width);
      submitted_anew_.emplace(item.id, over);
    }
  }

  bool start_one_by_floor(const Entry& entry, db::Priority over) {
    const PlanItem& item = *entry.item;
    if (!has_slot() || has_stuck_jobs(item, snapshot_)) return false;
    const ItemWidth width = filling_.widths->of(item);
    if (!floors_.is_due(item.priority, width.width, filling_.widths->turn_seconds(item, width))) {
      return false;
    }
    start(entry, over);
    floors_.take(item.priority, width.width);
    by_floor_.insert(item.id);
    return true;
  }

  void add_bound(Floor& floor, const PlanItem& item) {
    const ItemWidth width = filling_.widths->of(item);
    floor.job_gpus = std::max(1, width.width.gpus());
    floor.job_seconds = filling_.widths->late_seconds_of(item, width);
    floor.first_wait = filling_.widths->late_wait(width);
    // Each segment waits for its GPUs anew.
    const double turns =
        width.segment > 0 ? std::ceil(floor.job_seconds / static_cast<double>(width.segment)) : 1;
    floor.later_waits = turns * std::max(floor.first_wait, filling_.widths->longest_turn());
  }

  void note_floors() {
    plan_.floors = floors_.all();
    // While nobody knows the GPUs, what has been saved up is kept.
    if (!snapshot_.gpus) plan_.idle_since = snapshot_.idle_since;
    for (const auto& [priority, floor] : plan_.floors) {
      const auto left = filling_.left.find(priority);
      // Those of its jobs that have GPUs, or wait for its floor, have spent it already.
      const bool waits = (left != filling_.left.end() && left->second > 0) ||
                         floor.jobs_waiting > 0 || floor.jobs > 0;
      plan_.idle_since[priority] = waits ? floor.idle_since : snapshot_.now;
    }
  }

  void start(const Entry& entry, std::optional<db::Priority> floor_over = std::nullopt) {
    const PlanItem& item = *entry.item;
    const ItemAsks& asks = asks_of(item);
    const ItemWidth width = filling_.widths->of(item);
    filling_.widths->take(item, width);
    Reason reason = reason_to_start(item, filling_);
    if (floor_over) reason.why = Why::kFloor;
    reason.text = draft_.add_text(what_it_gets(item, width, snapshot_));
    Decision& decision = draft_.decide(entry.decision, Verdict::kStart, reason);
    decision.count = static_cast<int32_t>(filling_.ahead.at(number_of(item.priority)));
    JobStart start{.item_id = item.id,
                   .priority = item.priority,
                   .width = width.width,
                   .lane = lane_of_width(snapshot_.limits, item.priority, asks.lane, width.width),
                   .size = asks.size,
                   .explanation = sentence(plan_, decision),
                   .floor_over = floor_over,
                   .segment = width.segment,
                   .limit = width.segment > 0 ? 0 : filling_.widths->limit_of(item, width),
                   .longest = bounds_of(snapshot_.bounds, item).most_seconds};
    if (asks.own_room) start.apart = item.owner;
    plan_.starts.push_back(std::move(start));
    --filling_.left.at(item.priority);
    ++filling_.busy;
    if (!floor_over) add_pending(item, filling_);
  }

  void wait(const Entry& entry) {
    const PlanItem& item = *entry.item;
    int64_t& ahead = filling_.ahead.at(number_of(item.priority));
    Reason reason = reason_to_wait(item, filling_);
    if (order_.has_groups()) reason.first_group = first_group(item);
    Decision& decision = draft_.decide(entry.decision, Verdict::kWait, reason);
    decision.group = item.group;
    decision.count = static_cast<int32_t>(ahead);
    if (!has_stuck_jobs(item, snapshot_)) ++ahead;
  }

  void decide_other(const Entry& entry) {
    const PlanItem& item = *entry.item;
    const bool due = item.not_before <= snapshot_.now;
    if (item.cancel_requested) {
      draft_.decide(entry.decision, Verdict::kRuns, {.why = Why::kCancelled});
    } else if (item.state == db::ItemState::kHeld) {
      draft_.decide(entry.decision, Verdict::kHeld, {.why = Why::kHeld});
    } else if (item.state == db::ItemState::kActive) {
      const auto over = submitted_anew_.find(item.id);
      active_.decide(entry,
                     over == submitted_anew_.end() ? std::nullopt : std::optional(over->second));
    } else if (!due) {
      draft_.decide(entry.decision, Verdict::kWait, {.why = Why::kRetry}).count =
          static_cast<int32_t>(item.not_before - snapshot_.now);
    } else if (item.unread) {
      const int text = draft_.text_number(holds_.of_reading(item));
      draft_.decide(entry.decision, Verdict::kWait, {.why = Why::kUnread, .text = text});
    } else {
      draft_.decide(entry.decision, Verdict::kWait,
                    {.why = Why::kHold, .text = draft_.text_number(holds_.of(item))});
    }
  }

  const QueueSnapshot& snapshot_;
  Holds holds_;
  Deadlines deadlines_;
  ReadyOrder order_;
  Floors floors_;
  std::unordered_set<int64_t> by_floor_;
  std::unordered_map<int64_t, db::Priority> submitted_anew_;  // and the class that they wait among
  Filling filling_;
  std::optional<db::Priority> full_;  // the highest class with ready items that is
  bool none_free_ = false;            // ItemWidths::has_free_gpu(): starts only make them fewer
  PlanDraft draft_;
  Plan& plan_ = draft_.plan;
  ActiveItems active_{snapshot_, holds_, filling_, draft_};
  std::array<std::vector<Entry>, std::tuple_size_v<ByClass>> ready_;
  std::vector<Entry> others_;
};

}  // namespace

Plan plan(const QueueSnapshot& snapshot) { return Planner(snapshot).run(); }

}  // namespace scheduler
