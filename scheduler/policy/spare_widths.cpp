// Implements item_widths.h: a node for the last items of a backlog, fewer GPUs for an item that was
// demoted, and how long others keep GPUs.
#include <algorithm>
#include <limits>
#include <numeric>

#include "base/text.h"
#include "scheduler/forecast/span_text.h"
#include "scheduler/policy/item_widths.h"

namespace scheduler {
namespace {

constexpr double kTailEfficiency = 0.95;
constexpr double kWorthwhileOfAll = 0.9;

bool is_free(const ClusterForecast& cluster, const Width& width) {
  const auto start = earliest_start(cluster, width);
  return start && *start <= 0;
}

// While jobs of its class started: it is of a backlog, and not one that just came.
bool has_waited(const PlanItem& item, const QueueSnapshot& snapshot) {
  return std::any_of(snapshot.items.begin(), snapshot.items.end(), [&](const PlanItem& other) {
    const bool runs = other.state == db::ItemState::kActive && !other.waits;
    return runs && other.priority == item.priority && other.started > item.created;
  });
}

}  // namespace

double ItemWidths::late_wait(const ItemWidth& width) const {
  const auto start = gpus_ ? earliest_start(gpus_->late, width.width) : std::nullopt;
  return start ? std::max(0.0, *start) : std::numeric_limits<double>::infinity();
}

bool ItemWidths::has_free_gpu() const {
  if (!gpus_) return true;
  if (spare_ <= 0) return false;
  const auto start = earliest_start(gpus_->likely, Width{});
  return start && *start <= 0;
}

double ItemWidths::longest_turn() const {
  double longest = 0;
  for (const auto& time : snapshot_.times) {
    if (!time) continue;
    const double whole = run_seconds(time->model, time->work, Width{});
    longest = std::max(longest, bounded(whole, time->model, kNinetyPercent));
  }
  const auto segment = static_cast<double>(snapshot_.limits.segment);
  return segment > 0 ? std::min(longest, segment) : longest;
}

// Neither other people nor items or jobs of other classes.
bool ItemWidths::nobody_else_waits(db::Priority priority) const {
  if (snapshot_.gpus->others_waiting > 0) return false;
  const auto is_other = [&](const auto& of_class) {
    return of_class.first != priority && of_class.second > 0;
  };
  return std::none_of(ready_.begin(), ready_.end(), is_other) &&
         std::none_of(snapshot_.pending.begin(), snapshot_.pending.end(), is_other);
}

// The last `low` items of a backlog, while others of it run, may have one node each, but never
// more, and only one that is free.
std::optional<WidthChoice> ItemWidths::tail(const PlanItem& item, double work,
                                            const RuntimeModel& model,
                                            const ClassWidths& rules) const {
  const auto& menu = snapshot_.limits.menu;
  const auto node = std::find_if(menu.begin(), menu.end(), [](const Width& width) {
    return width.nodes == 1 && width.gpus_per_node > 1;
  });
  const auto held = held_.find(item.priority);
  const bool ends = held != held_.end() && held->second > 0;
  if (item.priority != db::Priority::kLow || item.finish_by > 0 || !ends) return std::nullopt;
  if (node == menu.end() || !(*node > rules.cap) || !nobody_else_waits(item.priority)) {
    return std::nullopt;
  }
  if (efficiency(model, work, *node) < kTailEfficiency) return std::nullopt;
  if (!is_free(gpus_->likely, *node) || !is_free(gpus_->late, *node)) return std::nullopt;
  ClassWidths wider = rules;
  wider.cap = *node;
  wider.least_efficiency = std::min(wider.least_efficiency, kTailEfficiency);
  auto choice = choose(item, work, model, wider, *gpus_);
  const bool whole = choice && choice->width == *node;
  return whole && has_waited(item, snapshot_) ? choice : std::nullopt;
}

std::optional<ItemWidth> ItemWidths::narrower(const PlanItem& item) const {
  const auto rules = snapshot_.limits.classes.find(item.priority);
  const SearchTime* time = time_to_choose_by(item);
  const bool bulk = item.priority > db::Priority::kUrgent && item.width && item.stoppable;
  if (!bulk || item.stop_asked || time == nullptr || rules == snapshot_.limits.classes.end()) {
    return std::nullopt;
  }
  const Width& cap = item.finish_by > 0 ? rules->second.deadline_cap : rules->second.cap;
  if (item.width->nodes == 1 || !(item.width->gpus() > cap.gpus())) return std::nullopt;
  const double whole = run_seconds(time->model, time->work * item.left, *item.width);
  const bool has_run = !item.waits && item.started > 0;
  const double ran = has_run ? static_cast<double>(snapshot_.now - item.started) : 0;
  const double left = std::max(0.0, whole - ran);
  const double work = time->work * item.left * left / whole;
  // It gets GPUs of its own job, so that it need not wait for others.
  const ClusterForecast own(static_cast<size_t>(item.width->nodes),
                            NodeForecast(static_cast<size_t>(item.width->gpus_per_node), 0.0));
  // What this plan submits shares the GPUs as before.
  ItemWidths shared = *this;
  for (const auto& [priority, jobs] : pending_) shared.ready_[priority] += jobs;
  auto choice = shared.choose(item, work, time->model, rules->second, {.likely = own, .late = own});
  if (!choice || choice->width.gpus() >= item.width->gpus()) return std::nullopt;
  ItemWidth width{.width = choice->width};
  width.choice = std::move(choice);
  width.done_now = left;
  width.done_then = run_seconds(time->model, work, width.width);
  const auto freed = static_cast<int64_t>(item.width->gpus() - width.width.gpus());
  const int64_t ready =
      std::accumulate(shared.ready_.begin(), shared.ready_.end(), int64_t{0},
                      [](int64_t sum, const auto& of_class) { return sum + of_class.second; });
  width.sharing = std::clamp<int64_t>(ready - claimed_, 0, freed);
  const double wait = std::clamp(earliest_start(gpus_->likely, Width{}).value_or(left), 0.0, left);
  const auto others = static_cast<double>(width.sharing);
  const double mean = waiting_work_ / static_cast<double>(std::max<int64_t>(1, waiting_items_));
  const double run = run_seconds(time->model, mean, Width{});
  const double before = left + others * (wait + run);
  const double after = width.done_then + others * run;
  if (!item.waits && after >= kWorthwhileOfAll * before) return std::nullopt;
  return width;
}

std::string explain_narrower(const ItemWidth& width) {
  return "it is done in " + span_text(width.done_then) + " instead of " +
         span_text(width.done_now) +
         (width.sharing == 0 ? ""
                             : ", and " + base::counted(width.sharing, "item") +
                                   " that may have its GPUs need not wait for its end");
}

}  // namespace scheduler
