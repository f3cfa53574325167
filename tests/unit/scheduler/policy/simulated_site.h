// A small cluster and its queue in virtual time: what the plan decides is carried out, searches
// take another time than predicted, items come and change their class.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/policy/policy.h"

namespace scheduler {

class SimulatedSite {
 public:
  // Each seed makes another site and another queue.
  explicit SimulatedSite(unsigned seed) : random_(seed) {
    make_site();
    make_queue();
  }

  // Until every item has ended, or so many instants have passed. Returns what went against the
  // promises of the policy, one sentence each.
  std::vector<std::string> run(int most_instants) {
    for (int i = 0; i < most_instants && !has_ended_all() && broken_.empty(); ++i) {
      plan_until_nothing_changes();
      pass_to_the_next_instant();
    }
    if (broken_.empty() && !has_ended_all()) broken_.emplace_back("not every item ends");
    return broken_;
  }

  int widenings() const { return widenings_; }

 private:
  static constexpr double kNever = 1e18;
  static constexpr double kTimeOfAStop = 60;

  struct Gpu {
    int job = -1;  // of an item; -1: none
    double taken_until = 0;
    double limit = 0;  // other people's job: what the cluster says of its end
  };
  struct Search {
    PlanItem item{};
    double arrives = 0;
    double takes = 1;  // of the predicted time
    double left = 1;   // of the whole search
    int jobs = 0;
    int stops = 0;  // since its class was changed last
    double begun = 0;
    double ends = kNever;
    double stops_at = kNever;
  };

  int pick(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }
  double any(double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random_);
  }

  void make_site() {
    const int per_node = pick(1, 4);
    const int nodes = pick(1, 4);
    nodes_.assign(static_cast<size_t>(nodes), std::vector<Gpu>(static_cast<size_t>(per_node)));
    for (auto& node : nodes_) {
      for (Gpu& gpu : node) {
        gpu.limit = pick(0, 1) * any(0, 40'000);
        gpu.taken_until = gpu.limit * any(0, 1);
      }
    }
    snapshot_.limits = {.slots = pick(0, 2) == 0 ? pick(1, 8) : 1000,
                        .queues = true,
                        .max_pending = pick(0, 6),
                        .menu = widths_of(per_node, nodes)};
    ClusterLimits& limits = snapshot_.limits;
    limits.width = limits.menu.front();
    const Width node{.gpus_per_node = per_node};
    const auto width_from = [&](const Width& least) {
      std::vector<Width> wider;
      for (const Width& width : limits.menu) {
        if (width >= least) wider.push_back(width);
      }
      return wider[static_cast<size_t>(pick(0, static_cast<int>(wider.size()) - 1))];
    };
    for (const db::Priority priority :
         {db::Priority::kUrgent, db::Priority::kHigh, db::Priority::kNormal, db::Priority::kLow}) {
      const bool urgent = priority == db::Priority::kUrgent;
      ClassWidths widths{.least = urgent ? width_from(limits.width) : limits.width};
      widths.cap = urgent ? width_from(widths.least) : pick(0, 1) == 0 ? limits.width : node;
      widths.deadline_cap = width_from(widths.cap);
      widths.least_efficiency = any(0, 1);
      limits.classes[priority] = widths;
    }
    if (pick(0, 2) == 0) limits.urgent = limits.classes[db::Priority::kUrgent].least;
  }

  void make_queue() {
    const int kinds = pick(1, 3);
    for (int kind = 0; kind < kinds; ++kind) {
      RuntimeModel model{.straggler_loss = {{1, 0}, {16, any(0, 0.3)}}, .sigma = any(0.05, 0.6)};
      snapshot_.times.push_back(SearchTime{.work = any(10, 60'000), .model = model});
    }
    const int items = pick(1, 12);
    for (int id = 1; id <= items; ++id) {
      Search search{.arrives = pick(0, 1) * any(0, 50'000), .takes = any(0.3, 3)};
      search.item = {.id = id,
                     .priority = static_cast<db::Priority>(pick(1, 4)),
                     .kind = pick(0, 8) == 0 ? -1 : pick(0, kinds - 1),
                     .created = static_cast<int64_t>(search.arrives),
                     .owner = pick(1, 3)};
      if (pick(0, 3) == 0) search.item.finish_by = search.item.created + pick(1, 100'000);
      searches_.push_back(search);
    }
  }

  bool has_arrived(const Search& search) const { return search.arrives <= now_; }
  static bool is_active(const Search& search) {
    return search.item.state == db::ItemState::kActive;
  }
  bool has_ended_all() const {
    return std::all_of(searches_.begin(), searches_.end(),
                       [](const Search& search) { return has_ended(search.item.state); });
  }
  Search& of_id(int64_t id) { return searches_.at(static_cast<size_t>(id) - 1); }
  // What nothing is known of takes as long as this.
  const SearchTime& time_of(const Search& search) const {
    return *snapshot_.times[search.item.kind < 0 ? 0 : static_cast<size_t>(search.item.kind)];
  }

  // As the daemon has it: a search that takes longer than predicted is still not quite done.
  std::pair<double, double> rest_of(const Search& search) const {
    const SearchTime& time = time_of(search);
    const double ran = search.item.waits ? 0 : now_ - search.begun;
    const double likely = run_seconds(time.model, time.work, *search.item.width);
    const double late = bounded(likely, time.model, kNinetyPercent);
    return {std::max(likely - ran, 0.05 * likely), std::max(late - ran, 0.05 * late)};
  }

  GpuForecast forecast() const {
    GpuForecast gpus;
    for (const auto& node : nodes_) {
      NodeForecast likely;
      NodeForecast late;
      for (const Gpu& gpu : node) {
        const bool others = gpu.job < 0 && gpu.taken_until > now_;
        const auto rest = gpu.job < 0 ? std::pair(others ? gpu.limit - now_ : 0.0,
                                                  others ? gpu.limit - now_ : 0.0)
                                      : rest_of(searches_[static_cast<size_t>(gpu.job)]);
        likely.push_back(rest.first);
        late.push_back(rest.second);
      }
      gpus.likely.push_back(likely);
      gpus.late.push_back(late);
    }
    for (const int job : queued_) {
      const Search& search = searches_[static_cast<size_t>(job)];
      const auto rest = rest_of(search);
      place(gpus.likely, *search.item.width, rest.first);
      place(gpus.late, *search.item.width, rest.second);
    }
    return gpus;
  }

  const QueueSnapshot& snapshot() {
    snapshot_.now = static_cast<int64_t>(now_);
    snapshot_.items.clear();
    snapshot_.pending.clear();
    snapshot_.busy_slots = snapshot_.running = 0;
    for (const Search& search : searches_) {
      if (!has_arrived(search) || has_ended(search.item.state)) continue;
      snapshot_.items.push_back(search.item);
      if (!is_active(search)) continue;
      ++snapshot_.busy_slots;
      if (search.item.waits || search.item.stop_asked) {
        ++snapshot_.pending[search.item.priority];
      } else {
        ++snapshot_.running;
      }
    }
    snapshot_.gpus = forecast();
    return snapshot_;
  }

  void break_promise(const Search& search, const std::string& what) {
    broken_.push_back("item " + std::to_string(search.item.id) + " (" +
                      to_string(search.item.priority) + ") " + what + " after " +
                      std::to_string(now_) + " seconds");
  }

  void check_width(const Search& search, const Width& width) {
    const ClassWidths& rules = snapshot_.limits.classes.at(search.item.priority);
    const bool has_deadline = search.item.finish_by > 0;
    Width cap = has_deadline ? rules.deadline_cap : rules.cap;
    // The end of a backlog.
    const Width node{.gpus_per_node = snapshot_.limits.menu.back().gpus_per_node};
    if (search.item.priority == db::Priority::kLow) cap = std::max(cap, node);
    if (width > cap) {
      break_promise(search, "gets " + to_string(width) + ", more than its class's cap");
    }
    if (width.nodes > 1 && !has_deadline && search.item.priority != db::Priority::kUrgent) {
      break_promise(search, "gets several nodes");
    }
  }

  void carry_out(const Plan& made) {
    for (const JobStart& start : made.starts) {
      Search& search = of_id(start.item_id);
      check_width(search, start.width);
      search.item.state = db::ItemState::kActive;
      search.item.width = start.width;
      search.item.waits = search.item.stoppable = true;
      search.item.first_job = ++search.jobs == 1;
      queued_.push_back(static_cast<int>(start.item_id) - 1);
    }
    for (const Widening& widening : made.widenings) {
      Search& search = of_id(widening.item_id);
      check_width(search, widening.width);
      ++widenings_;
      if (++search.stops > 1) break_promise(search, "is stopped twice");
      search.item.stop_asked = true;
      search.stops_at = now_ + (search.item.waits ? 1 : kTimeOfAStop);
    }
  }

  void plan_until_nothing_changes() {
    for (size_t turn = 0; turn <= 2 * searches_.size(); ++turn) {
      const Plan made = plan(snapshot());
      if (made.starts.empty() && made.widenings.empty()) return;
      carry_out(made);
      const Plan again = plan(snapshot());
      for (const JobStart& start : again.starts) {
        break_promise(of_id(start.item_id), "is started by the same plan, made again,");
      }
      for (const Widening& widening : again.widenings) {
        break_promise(of_id(widening.item_id), "is stopped by the same plan, made again,");
      }
      if (!broken_.empty()) return;
      start_queued_jobs();
    }
    broken_.emplace_back("the plan of one instant never comes to an end");
  }

  // In their order, and what fits passes what does not.
  void start_queued_jobs() {
    std::erase_if(queued_, [this](int job) { return begins(job); });
  }

  bool begins(int job) {
    Search& search = searches_[static_cast<size_t>(job)];
    std::vector<std::vector<Gpu*>> free;
    for (auto& node : nodes_) {
      std::vector<Gpu*> gpus;
      for (Gpu& gpu : node) {
        if (gpu.job < 0 && gpu.taken_until <= now_) gpus.push_back(&gpu);
      }
      const auto wanted = static_cast<size_t>(search.item.width->gpus_per_node);
      if (gpus.size() < wanted) continue;
      gpus.resize(wanted);
      free.push_back(std::move(gpus));
    }
    const auto nodes = static_cast<size_t>(search.item.width->nodes);
    if (search.item.stop_asked || free.size() < nodes) return false;
    for (size_t i = 0; i < nodes; ++i) {
      for (Gpu* gpu : free[i]) gpu->job = job;
    }
    search.item.waits = false;
    search.begun = now_;
    search.item.started = static_cast<int64_t>(now_);
    search.ends = now_ + true_seconds(search);
    return true;
  }

  double true_seconds(const Search& search) const {
    const SearchTime& time = time_of(search);
    return search.takes * run_seconds(time.model, time.work * search.left, *search.item.width);
  }

  void pass_to_the_next_instant() {
    double next = now_ + any(1, 20'000);
    for (const Search& search : searches_) {
      if (search.arrives > now_) next = std::min(next, search.arrives);
      next = std::min({next, search.ends, search.stops_at});
    }
    now_ = next;
    for (Search& search : searches_) {
      if (search.ends <= now_) {
        leave(search);
        search.item.state = db::ItemState::kDone;
      } else if (search.stops_at <= now_) {
        stop(search);
      } else if (has_arrived(search) && !has_ended(search.item.state) && pick(0, 40) == 0) {
        search.item.priority = static_cast<db::Priority>(pick(1, 4));
        search.stops = 0;
      }
    }
    start_queued_jobs();
  }

  void stop(Search& search) {
    if (!search.item.waits) {
      search.left *= 1 - (now_ - search.begun) / true_seconds(search);
    }
    leave(search);
    search.item.state = db::ItemState::kQueued;
  }

  void leave(Search& search) {
    const int job = static_cast<int>(search.item.id) - 1;
    for (auto& node : nodes_) {
      for (Gpu& gpu : node) {
        if (gpu.job == job) gpu = {};
      }
    }
    std::erase(queued_, job);
    search.ends = search.stops_at = kNever;
    search.item.width.reset();
    search.item.waits = search.item.stoppable = search.item.stop_asked = false;
  }

  std::mt19937_64 random_;
  double now_ = 1'000;
  int widenings_ = 0;
  std::vector<std::vector<Gpu>> nodes_{};
  std::vector<Search> searches_{};  // by id
  std::vector<int> queued_{};       // indices of searches, in the order of their jobs
  QueueSnapshot snapshot_{};
  std::vector<std::string> broken_{};
};

}  // namespace scheduler
