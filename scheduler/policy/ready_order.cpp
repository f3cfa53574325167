#include "scheduler/policy/ready_order.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "scheduler/forecast/runtime_model.h"

namespace scheduler {
namespace {

bool is_older(const Entry& a, const Entry& b) {
  return std::tuple(a.item->created, a.item->id) < std::tuple(b.item->created, b.item->id);
}

// Mostly they are in order already, which costs a tenth of sorting them.
template <typename Before>
void sort_if_needed(std::vector<Entry>& entries, Before before) {
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
  sort_if_needed(of_class, [](const Entry& a, const Entry& b) { return a.turn < b.turn; });
}

}  // namespace

double ReadyOrder::expected_gpu_seconds(const PlanItem& item) const {
  const auto kind = static_cast<size_t>(item.kind);
  const bool known = item.kind >= 0 && kind < snapshot_.times.size() && snapshot_.times[kind];
  if (!known) return snapshot_.usual_job_seconds;
  const SearchTime& time = *snapshot_.times[kind];
  const double work = time.work * item.left;
  if (!item.width || item.width->gpus() == 0) return work;
  return item.width->gpus() * run_seconds(time.model, work, *item.width);
}

// A job counts from its submission as what it is expected to use: otherwise the group that has
// used the least would get all that is free before any of its jobs has run for long.
void ReadyOrder::count_use(const PlanItem& item) {
  if (!has_groups()) return;
  double seconds = expected_gpu_seconds(item);
  if (item.width && item.started > 0 && !item.waits) {
    const auto ran = static_cast<double>(snapshot_.now - item.started);
    seconds = std::max(seconds, ran * std::max(1, item.width->gpus()));
  }
  groups_.at(static_cast<size_t>(item.group)).gpu_seconds += seconds;
}

// `of_class` has the owners in turn, and keeps that order within each group.
void ReadyOrder::groups_take_turns(std::vector<Entry>& of_class) const {
  if (!has_groups()) return;
  std::vector<std::vector<Entry>> of_group(groups_.size());
  for (const Entry& entry : of_class) {
    of_group.at(static_cast<size_t>(entry.item->group)).push_back(entry);
  }
  GroupTurns turns(groups_);
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

double ReadyOrder::use_of(int group) const {
  return use_per_share(groups_.at(static_cast<size_t>(group)));
}

void ReadyOrder::count_job(const PlanItem& item) {
  ++jobs_[item.owner];
  count_use(item);
}

void ReadyOrder::put_in_order(std::vector<Entry>& of_class, bool has_deadlines) {
  sort_if_needed(of_class, is_older);
  if (has_deadlines) put_due_first(deadlines_, of_class);
  take_turns(jobs_, of_class);
  groups_take_turns(of_class);
}

}  // namespace scheduler
