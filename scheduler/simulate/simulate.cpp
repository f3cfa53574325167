#include "scheduler/simulate/simulate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "scheduler/policy/cluster_limits.h"
#include "scheduler/policy/policy.h"
#include "scheduler/simulate/virtual_cluster.h"

namespace scheduler {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// When the trace begins. Not 0, which the policy takes for "not yet".
constexpr int64_t kEpoch = 1'000'000'000;

ClusterLimits always(ClusterLimits limits, const Width& width) {
  limits.width = width;
  limits.menu.clear();
  limits.classes.clear();
  return limits;
}

ClusterLimits limits_for(const Trace& trace, SimulatedPolicy policy) {
  ClusterLimits limits = limits_of(trace.config);
  limits.most_nodes = trace.nodes;
  if (!trace.config.policy.segment) limits.segment = 0;
  const int gpus_per_node = trace.config.slurm.gpus_per_node;
  switch (policy) {
    case SimulatedPolicy::kOurs:
    case SimulatedPolicy::kFirstCome:
      return limits;
    case SimulatedPolicy::kOneGpu:
      return always(limits, {});
    case SimulatedPolicy::kOneNode:
      return always(limits, {.gpus_per_node = gpus_per_node});
    case SimulatedPolicy::kWholePartition:
      return always(limits, {.nodes = trace.nodes, .gpus_per_node = gpus_per_node});
  }
  return limits;
}

bool has_lower_id(const PlanItem& a, const PlanItem& b) { return a.id < b.id; }

int64_t whole_seconds(double seconds) { return kEpoch + static_cast<int64_t>(std::floor(seconds)); }

class Simulator {
 public:
  Simulator(const Trace& trace, SimulatedPolicy policy)
      : trace_(trace),
        first_come_(policy == SimulatedPolicy::kFirstCome),
        cluster_(trace.nodes, trace.config.slurm.gpus_per_node),
        states_(trace.items.size()) {
    result_.items.resize(trace.items.size());
    snapshot_.limits = limits_for(trace, policy);
    std::map<double, int> kinds;
    for (size_t i = 0; i < trace.items.size(); ++i) {
      const auto [kind, is_new] = kinds.try_emplace(trace.items[i].work, kinds.size());
      if (is_new) {
        snapshot_.times.push_back(SearchTime{.work = kind->first, .model = trace.model});
      }
      states_[i] = {.kind = kind->second, .left = trace.items[i].actual_work};
    }
    snapshot_.kinds.resize(snapshot_.times.size());
    for (const RunningJob& job : trace.running) cluster_.hold(job.width, job.rest);
  }

  Simulation run() {
    while (ended_ < trace_.items.size()) {
      now_ = next_event();
      if (now_ == kNever) throw std::logic_error("the simulated queue waits for nothing");
      take_ended();
      take_arrived();
      start_waiting();
      if (now_ >= plan_at_) make_plan();
    }
    return std::move(result_);
  }

 private:
  struct State {
    int kind = 0;
    double left = 0;  // actual work, seconds on one GPU
    bool waits = false;
  };

  double next_event() const {
    double next = std::min(plan_at_, cluster_.next_end().value_or(kNever));
    if (arrived_ < trace_.items.size()) next = std::min(next, trace_.items[arrived_].arrival);
    return next;
  }

  void plan_at_next_tick() {
    plan_at_ = std::min(plan_at_, std::max(now_, std::ceil(now_ / trace_.tick) * trace_.tick));
  }

  void take_ended() {
    if (cluster_.release_others(now_)) plan_at_next_tick();
    for (const VirtualJob& job : cluster_.take_ended(now_)) {
      if (job.segment > 0) {
        end_segment(job);
        continue;
      }
      SimulatedItem& item = result_.items[job.item];
      item.ended = job.started + job.seconds;
      item.width = job.width;
      record(job, item.ended);
      active_.erase(job.item);
      ++ended_;
      plan_at_next_tick();
    }
  }

  // The item has its turn again, with what is left of its search.
  void end_segment(const VirtualJob& job) {
    const double whole = run_seconds(trace_.model, states_[job.item].left, job.width);
    keep_rest(job, whole - static_cast<double>(job.segment), whole);
    record(job, job.started + job.seconds);
    active_.erase(job.item);
    queue_of(job.item).insert(job.item);
    plan_at_next_tick();
  }

  // The job's first seconds are its start-up and serial part, which the next job repeats.
  void keep_rest(const VirtualJob& job, double rest, double whole) {
    const double parallel = whole - run_seconds(trace_.model, 0, job.width);
    double& left = states_[job.item].left;
    if (parallel > 0) left *= std::clamp(rest / parallel, 0.0, 1.0);
  }

  void record(const VirtualJob& job, double ended) {
    const int gpus = job.width.gpus();
    result_.runs.push_back({job.item, gpus, job.started, ended});
    result_.gpu_seconds += gpus * (ended - job.started);
  }

  db::Priority priority_of(size_t item) const {
    return first_come_ ? db::Priority::kNormal : trace_.items[item].priority;
  }
  int64_t owner_of(size_t item) const { return first_come_ ? 0 : trace_.items[item].group; }
  bool has_deadline(size_t item) const { return trace_.items[item].deadline && !first_come_; }
  std::set<size_t>& queue_of(size_t item) {
    return has_deadline(item) ? due_ : ready_[{priority_of(item), owner_of(item)}];
  }

  void take_arrived() {
    for (; arrived_ < trace_.items.size() && trace_.items[arrived_].arrival <= now_; ++arrived_) {
      queue_of(arrived_).insert(arrived_);
      plan_at_next_tick();
    }
  }

  // Returns whether a job has started.
  bool start_waiting() {
    const std::vector<size_t> started = cluster_.start_waiting(now_);
    for (const size_t item : started) {
      if (result_.items[item].jobs == 1) result_.items[item].started = now_;
      active_.at(item).waits = false;
      active_.at(item).started = whole_seconds(now_);
    }
    return !started.empty();
  }

  // A plan starts ready items, and may stop jobs of urgent ones for wider ones; without either it
  // does nothing.
  bool has_something_to_do() const {
    const auto is_urgent = [](const auto& job) {
      return job.second.priority == db::Priority::kUrgent;
    };
    const auto has_items = [](const auto& queue) { return !queue.second.empty(); };
    return !due_.empty() || std::any_of(ready_.begin(), ready_.end(), has_items) ||
           (may_widen(snapshot_.limits) && std::any_of(active_.begin(), active_.end(), is_urgent));
  }

  void make_plan() {
    plan_at_ = kNever;
    if (!has_something_to_do()) {
      snapshot_.idle_since.clear();  // no class waits
      return;
    }
    fill_snapshot();
    const Plan made = plan(snapshot_);
    snapshot_.idle_since = made.idle_since;
    ++result_.plans;
    for (const JobStart& start : made.starts) submit(static_cast<size_t>(start.item_id), start);
    for (const Widening& widening : made.widenings) stop(static_cast<size_t>(widening.item_id));
    // More may be submitted where jobs have started at once.
    if (start_waiting() || !made.widenings.empty()) plan_at_ = now_ + trace_.tick;
  }

  PlanItem plan_item(size_t index) const {
    const TraceItem& item = trace_.items[index];
    PlanItem planned{.id = static_cast<int64_t>(index),
                     .priority = priority_of(index),
                     .kind = states_[index].kind,
                     .created = whole_seconds(item.arrival),
                     .owner = owner_of(index),
                     .left = static_cast<float>(states_[index].left / item.actual_work)};
    if (has_deadline(index)) planned.finish_by = whole_seconds(*item.deadline);
    return planned;
  }

  // Adds no more waiting items of a class and owner than make a difference to the plan: where more
  // items than GPUs are ready, each gets the same width. Urgent ones are all added, since their
  // number decides how they share the GPUs, and those with a deadline, since any may go first.
  void add_ready(std::vector<PlanItem>& items_by_id) const {
    const auto gpus =
        static_cast<size_t>(trace_.nodes) * static_cast<size_t>(trace_.config.slurm.gpus_per_node);
    const size_t most = std::max({gpus, static_cast<size_t>(kFewestPending),
                                  static_cast<size_t>(snapshot_.limits.max_pending)});
    for (const auto& [of, items] : ready_) {
      size_t added = 0;
      for (const size_t item : items) {
        if (of.first != db::Priority::kUrgent && ++added > most) break;
        items_by_id.push_back(plan_item(item));
      }
    }
    for (const size_t item : due_) items_by_id.push_back(plan_item(item));
    std::sort(items_by_id.begin(), items_by_id.end(), has_lower_id);
  }

  void fill_snapshot() {
    snapshot_.now = whole_seconds(now_);
    std::vector<PlanItem>& items = snapshot_.items;
    items.clear();
    add_ready(items);
    const auto ready = static_cast<std::ptrdiff_t>(items.size());
    for (const auto& [index, item] : active_) items.push_back(item);
    std::inplace_merge(items.begin(), items.begin() + ready, items.end(), has_lower_id);
    snapshot_.running = cluster_.running();
    snapshot_.busy_slots = static_cast<int>(active_.size());
    snapshot_.pending = cluster_.waiting();
    if (snapshot_.limits.classes.empty()) return;
    if (!snapshot_.gpus) snapshot_.gpus.emplace();
    cluster_.forecast(now_, *snapshot_.gpus);
  }

  void submit(size_t index, const JobStart& start) {
    const Width& width = start.width;
    PlanItem item = plan_item(index);
    const State& state = states_[index];
    item.state = db::ItemState::kActive;
    item.stoppable = true;
    item.waits = true;
    item.first_job = result_.items[index].jobs == 0;
    item.width = width;
    item.by_floor = start.floor_over.has_value();
    const double whole = run_seconds(trace_.model, state.left, width);
    const bool cut = start.segment > 0 && whole > static_cast<double>(start.segment);
    cluster_.submit({.item = index,
                     .priority = item.priority,
                     .rank = start.floor_over.value_or(item.priority),
                     .width = width,
                     .seconds = cut ? static_cast<double>(start.segment) : whole,
                     .left = state.left / trace_.items[index].actual_work,
                     .segment = cut ? start.segment : 0,
                     .time = &*snapshot_.times[static_cast<size_t>(state.kind)]});
    ++result_.items[index].jobs;
    queue_of(index).erase(index);
    active_.emplace(index, std::move(item));
  }

  // Stops the item's job with a checkpoint.
  void stop(size_t index) {
    const bool ran = !active_.at(index).waits;
    const VirtualJob job = cluster_.take(index);
    if (ran) {
      const double whole = run_seconds(trace_.model, states_[index].left, job.width);
      keep_rest(job, std::max(0.0, job.started + whole - now_), whole);
      record(job, now_);
    }
    active_.erase(index);
    queue_of(index).insert(index);
  }

  const Trace& trace_;
  bool first_come_;
  VirtualCluster cluster_;
  std::vector<State> states_;
  QueueSnapshot snapshot_;
  std::map<std::pair<db::Priority, int64_t>, std::set<size_t>> ready_;  // by class and owner
  std::set<size_t> due_;                                                // ready, with a deadline
  std::map<size_t, PlanItem> active_;
  size_t arrived_ = 0;
  size_t ended_ = 0;
  double now_ = 0;
  double plan_at_ = kNever;
  Simulation result_;
};

}  // namespace

Simulation simulate(const Trace& trace, SimulatedPolicy policy) {
  return Simulator(trace, policy).run();
}

}  // namespace scheduler
