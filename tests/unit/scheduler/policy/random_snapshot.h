// Random queues on random clusters, for what the policy promises of every plan.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "scheduler/policy/item_widths.h"
#include "scheduler/policy/policy.h"

namespace scheduler {

class RandomSnapshot {
 public:
  explicit RandomSnapshot(unsigned seed) : random_(seed) {
    make_limits();
    make_searches();
    make_items();
    make_gpus();
  }

  QueueSnapshot take() { return std::move(snapshot_); }

 private:
  int pick(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }
  bool one_in(int count) { return pick(1, count) == 1; }
  double any(double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random_);
  }

  void make_limits() {
    per_node_ = pick(1, 4);
    nodes_ = pick(1, 8);
    snapshot_.now = 1'000'000;
    ClusterLimits& limits = snapshot_.limits;
    limits = {.slots = one_in(3) ? pick(1, 12) : 1000,
              .queues = true,
              .max_pending = pick(0, 6),
              .menu = widths_of(per_node_, nodes_),
              .most_nodes = one_in(3) ? pick(1, nodes_) : 0,
              .segment = one_in(3) ? 0 : pick(600, 7200)};
    limits.width = limits.menu.front();
    const Width gpu = limits.menu.front();
    const Width node{.gpus_per_node = per_node_};
    const Width some{.nodes = pick(1, nodes_), .gpus_per_node = per_node_};
    limits.classes = {{db::Priority::kLow, {gpu, gpu, node, any(0.5, 0.99)}},
                      {db::Priority::kNormal, {gpu, one_in(3) ? gpu : node, node, any(0.5, 0.99)}},
                      {db::Priority::kHigh, {gpu, node, some, any(0.5, 0.9)}},
                      {db::Priority::kUrgent, {gpu, some, some, any(0.3, 0.7)}}};
    for (auto& [priority, widths] : limits.classes) {
      widths.cap = std::max(widths.cap, widths.least);
      widths.deadline_cap = std::max(widths.deadline_cap, widths.cap);
    }
    if (!one_in(3)) limits.floors[db::Priority::kLow] = any(0.01, 0.3);
    if (!one_in(3)) limits.floors[db::Priority::kNormal] = any(0.01, 0.3);
    for (const db::Priority priority : {db::Priority::kUrgent, db::Priority::kNormal}) {
      if (!one_in(4)) continue;
      snapshot_.bounds[{priority, {}}] = {.most_nodes = one_in(2) ? pick(1, nodes_) : 0,
                                          .most_gpus = one_in(2) ? pick(1, nodes_ * per_node_) : 0,
                                          .most_seconds = one_in(2) ? pick(600, 100'000) : 0};
    }
  }

  void make_searches() {
    const int kinds = pick(1, 3);
    for (int kind = 0; kind < kinds; ++kind) {
      RuntimeModel model{.straggler_loss = {{1, 0}, {16, any(0, 0.3)}}, .sigma = any(0.05, 0.6)};
      snapshot_.times.push_back(SearchTime{.work = any(10, 60'000), .model = model});
    }
  }

  db::Priority any_class() { return static_cast<db::Priority>(pick(1, 4)); }

  void make_items() {
    const int items = pick(1, 30);
    for (int id = 1; id <= items; ++id) {
      PlanItem item{.id = id,
                    .priority = any_class(),
                    .kind = one_in(10) ? -1 : pick(0, static_cast<int>(snapshot_.times.size()) - 1),
                    .created = snapshot_.now - pick(0, 100'000),
                    .owner = pick(1, 3)};
      if (one_in(4)) item.finish_by = snapshot_.now + pick(1, 100'000);
      if (one_in(3)) item.left = static_cast<float>(any(0.05, 1));
      if (one_in(12)) item.asks = std::make_shared<const ItemAsks>(own_asks());
      if (one_in(10)) item.not_before = snapshot_.now + pick(1, 600);
      if (one_in(20)) item.state = db::ItemState::kHeld;
      if (one_in(4)) give_job(item);
      snapshot_.items.push_back(std::move(item));
    }
  }
  ItemAsks own_asks() {
    if (one_in(2)) return {.own_options = true, .size = "time=1-0"};
    return {.own_options = true, .lane = "qos=short", .place = {{"qos", "short"}}};
  }

  void give_job(PlanItem& item) {
    item.state = db::ItemState::kActive;
    const auto& menu = snapshot_.limits.menu;
    item.width = menu[static_cast<size_t>(pick(0, static_cast<int>(menu.size()) - 1))];
    item.stoppable = true;
    item.waits = one_in(2);
    item.first_job = one_in(2);
    item.by_floor = item.waits && one_in(4);
    item.stop_asked = one_in(8);
    ++snapshot_.busy_slots;
    if (item.waits || item.stop_asked) ++snapshot_.pending[item.priority];
    if (!item.waits) {
      item.started = snapshot_.now - pick(0, 20'000);
      ++snapshot_.running;
    }
  }

  void make_gpus() {
    ClusterForecast likely;
    ClusterForecast late;
    for (int node = 0; node < nodes_; ++node) {
      NodeForecast ends(static_cast<size_t>(per_node_), 0.0);
      for (double& end : ends) end = one_in(2) ? 0 : any(0, 40'000);
      likely.push_back(ends);
      for (double& end : ends) end *= any(1, 2);
      late.push_back(ends);
    }
    snapshot_.gpus = GpuForecast{likely, late};
    snapshot_.gpus->held_by_others = one_in(3) ? pick(0, nodes_ * per_node_) : 0;
    snapshot_.gpus->others_waiting = one_in(2) ? pick(0, 3) : 0;
    if (one_in(4)) snapshot_.gpus.reset();
  }

  std::mt19937_64 random_;
  int per_node_ = 1;
  int nodes_ = 1;
  QueueSnapshot snapshot_{};
};

}  // namespace scheduler
