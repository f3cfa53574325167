#include "scheduler/policy/deadlines.h"

#include <algorithm>
#include <cmath>

#include "scheduler/forecast/runtime_model.h"

namespace scheduler {
namespace {

// Of what is left of the search.
int64_t ninety_percent(const SearchTime& time, double left, const Width& width) {
  const double seconds = run_seconds(time.model, time.work * left, width);
  return static_cast<int64_t>(std::ceil(bounded(seconds, time.model, kNinetyPercent)));
}

}  // namespace

const SearchTime* Deadlines::time_of(const PlanItem& item) const {
  if (item.kind < 0 || static_cast<size_t>(item.kind) >= snapshot_.times.size()) return nullptr;
  const auto& time = snapshot_.times[static_cast<size_t>(item.kind)];
  return time ? &*time : nullptr;
}

std::optional<int64_t> Deadlines::fastest(db::Priority priority, const SearchTime& time,
                                          double left) const {
  const ClusterLimits& limits = snapshot_.limits;
  const auto rules = limits.classes.find(priority);
  if (rules == limits.classes.end()) {
    const Width& width = width_for(limits, priority);
    return width.gpus() == 0 ? std::nullopt : std::optional(ninety_percent(time, left, width));
  }
  const JobBounds bounds = bounds_of(snapshot_.bounds, {.priority = priority});
  std::optional<int64_t> least;
  for (const Width& width : limits.menu) {
    const bool allowed = width >= rules->second.least && !(width > rules->second.deadline_cap);
    if (!fits(width, limits, bounds) || !allowed) continue;
    // The narrowest is admissible whatever its efficiency.
    if (least && efficiency(time.model, time.work * left, width) < rules->second.least_efficiency)
      continue;
    const int64_t seconds = ninety_percent(time, left, width);
    least = std::min(least.value_or(seconds), seconds);
  }
  return least;
}

std::optional<int64_t> Deadlines::least_seconds(const PlanItem& item) {
  const SearchTime* time = time_of(item);
  if (time == nullptr || asks_of(item).own_width) return std::nullopt;
  if (item.state == db::ItemState::kActive && item.width) {
    const bool knows_rest = item.first_job || item.left < 1;
    if (item.width->gpus() == 0 || !knows_rest) return std::nullopt;
    const int64_t whole = ninety_percent(*time, item.left, *item.width);
    const bool has_run = !item.waits && item.started > 0;
    const int64_t ran = has_run ? snapshot_.now - item.started : 0;
    return std::max<int64_t>(0, whole - std::max<int64_t>(0, ran));
  }
  if (item.left < 1) return fastest(item.priority, *time, item.left);
  const auto [known, is_new] = fastest_.try_emplace({item.priority, item.kind}, std::nullopt);
  if (is_new) known->second = fastest(item.priority, *time, 1);
  return known->second;
}

int64_t Deadlines::latest_start(const PlanItem& item) {
  return item.finish_by - least_seconds(item).value_or(0);
}

}  // namespace scheduler
