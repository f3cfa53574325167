#include "scheduler/policy/expected_times.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "scheduler/policy/deadlines.h"
#include "scheduler/policy/runtime_model.h"
#include "scheduler/policy/wait_forecast.h"

namespace scheduler {
namespace {

// To choose a width by when it is done looks at all devices: later items get their narrowest one.
constexpr int kMostByWait = 200;
constexpr double kLonger = 1.1;  // of two widths the narrower, unless it is done this much later
constexpr double kLongest = 2e9;

int32_t whole(double seconds) {
  return static_cast<int32_t>(std::ceil(std::clamp(seconds, 0.0, kLongest)));
}

// One device in the place of a GPU where there are none.
Width with_device(const Width& width) { return width.gpus() > 0 ? width : Width{}; }

// The devices that jobs run on, and when each is free. Jobs of one device and of one whole node,
// which most are, find theirs in a heap; a wider one rebuilds it.
class Devices {
 public:
  explicit Devices(ClusterForecast free, int most_jobs)
      : free_(std::move(free)), most_jobs_(static_cast<size_t>(std::max(1, most_jobs))) {
    for (const NodeForecast& node : free_) count_ += node.size();
  }

  double count() const { return static_cast<double>(count_); }

  std::optional<double> earliest(const Width& width) {
    put_back();
    return earliest_start(free_, width);
  }

  // The start of the next job of a search whose job stops with a checkpoint at this time.
  std::optional<double> resume(const Width& width, double seconds, double stops) {
    put_back();
    return place(free_, width, seconds, stops);
  }

  // The start of a job of this width that runs for so many seconds; nullopt: there is no room.
  std::optional<double> take(const Width& width, double seconds) {
    if (width.nodes != 1 || !is_unit(width.gpus_per_node)) {
      put_back();
      return place(free_, width, seconds);
    }
    if (unit_ != width.gpus_per_node) build(width.gpus_per_node);
    if (heap_.empty()) return std::nullopt;
    Unit unit = heap_.top();
    heap_.pop();
    const double start = std::max(0.0, unit.first);
    heap_.emplace(start + seconds, unit.second);
    return start;
  }

 private:
  using Unit = std::pair<double, size_t>;  // free at, which

  bool is_unit(int gpus) const {
    if (gpus == 1) return true;
    return std::all_of(free_.begin(), free_.end(), [gpus](const NodeForecast& node) {
      return node.size() == static_cast<size_t>(gpus);
    });
  }

  void build(int gpus) {
    put_back();
    unit_ = gpus;
    std::vector<Unit> units;
    for (size_t node = 0; node < free_.size(); ++node) {
      if (gpus > 1) {
        units.emplace_back(*std::max_element(free_[node].begin(), free_[node].end()), node);
        continue;
      }
      for (size_t gpu = 0; gpu < free_[node].size(); ++gpu) {
        units.emplace_back(free_[node][gpu], units.size());
      }
    }
    std::sort(units.begin(), units.end());
    // No more jobs run at once: the devices that are free last are not needed.
    if (units.size() > most_jobs_) units.resize(most_jobs_);
    heap_ = Heap(std::greater<>(), std::move(units));
  }

  // What the heap knows, as the forecast of the nodes.
  void put_back() {
    std::vector<double*> single;
    if (unit_ == 1) {
      for (NodeForecast& node : free_) {
        for (double& gpu : node) single.push_back(&gpu);
      }
    }
    for (; unit_ > 0 && !heap_.empty(); heap_.pop()) {
      const auto& [free, which] = heap_.top();
      if (unit_ == 1) {
        *single[which] = free;
      } else {
        std::fill(free_[which].begin(), free_[which].end(), free);
      }
    }
    unit_ = 0;
  }

  using Heap = std::priority_queue<Unit, std::vector<Unit>, std::greater<>>;

  ClusterForecast free_;
  size_t most_jobs_;
  size_t count_ = 0;
  int unit_ = 0;  // GPUs of what the heap has; 0: it is empty
  Heap heap_{};
};

class Expectation {
 public:
  Expectation(const QueueSnapshot& snapshot, Plan& plan)
      : snapshot_(snapshot), plan_(plan), now_(static_cast<double>(snapshot.now)) {}

  void add_others(const std::vector<Entry>& others) {
    for (const Entry& entry : others) {
      const PlanItem& item = *entry.item;
      if (item.state == db::ItemState::kActive && !item.cancel_requested) {
        add_job(entry);
      } else if (item.state != db::ItemState::kHeld) {
        ++plan_.queue.unknown;
      }
    }
  }

  void add_ready(const std::vector<Entry>& ready) {
    std::optional<Devices> devices = devices_for_ready();
    ByClass left{};
    for (const Entry& entry : ready) ++left[static_cast<size_t>(entry.item->priority)];
    std::stable_sort(rests_.begin(), rests_.end(), [](const Rest& a, const Rest& b) {
      return std::pair(a.entry.item->priority, a.stops) <
             std::pair(b.entry.item->priority, b.stops);
    });
    // Those that a floor lets go first are not in the order of the items.
    std::unordered_map<int64_t, const JobStart*> starts;
    for (const JobStart& start : plan_.starts) starts.emplace(start.item_id, &start);
    for (const Entry& entry : ready) {
      const PlanItem& item = *entry.item;
      int64_t& of_class = left[static_cast<size_t>(item.priority)];
      if (devices) resume_up_to(item.priority, *devices);
      const auto start = starts.find(item.id);
      if (devices) {
        add_waiting(entry, start == starts.end() ? nullptr : start->second, of_class, *devices);
      } else {
        ++plan_.queue.unknown;
      }
      --of_class;
    }
    if (devices) resume_up_to(db::Priority::kLow, *devices);
  }

 private:
  // What is left of a search when its job stops with a checkpoint at the end of its segment.
  struct Rest {
    Entry entry{};
    double started = 0;  // seconds from now
    double stops = 0;
    double seconds = 0;
  };

  // What an item of a class and kind may have, narrowest first, and how long it then takes.
  struct Timed {
    Width width{};
    double seconds = 0;
  };
  using Menu = std::vector<Timed>;

  const SearchTime* time_of(const PlanItem& item) const {
    if (item.kind < 0 || static_cast<size_t>(item.kind) >= snapshot_.times.size()) return nullptr;
    const auto& time = snapshot_.times[static_cast<size_t>(item.kind)];
    return time && !asks_of(item).own_width ? &*time : nullptr;
  }

  void set(const Entry& entry, double start, double done) {
    Decision& decision = plan_.decisions[entry.decision];
    decision.starts_in = whole(start);
    decision.done_in = whole(done);
    plan_.queue.done_in = std::max(plan_.queue.done_in, int64_t{decision.done_in});
  }

  void add_job(const Entry& entry) {
    const PlanItem& item = *entry.item;
    const SearchTime* time = time_of(item);
    const auto start = time != nullptr && item.width ? start_of_job(item) : std::nullopt;
    if (!start) {
      ++plan_.queue.unknown;
      return;
    }
    const Width width = with_device(*item.width);
    const double whole = run_seconds(time->model, time->work * item.left, width);
    const int64_t segment = segment_of_job(item);
    const double seconds = in_segments(whole, segment, run_seconds(time->model, 0, width));
    set(entry, *start, std::max(0.0, *start + seconds));
    const bool stops = seconds > whole;
    const double turn = stops ? static_cast<double>(segment) : whole;
    const double until = std::max(0.0, *start + turn);
    if (!item.waits) busy_.push_back(until);
    if (stops) {
      rests_.push_back(
          {.entry = entry, .started = *start, .stops = until, .seconds = seconds - turn});
    }
  }

  // A search that stops at the end of its segment resumes before the waiting items of its class,
  // most of which are newer.
  void resume_up_to(db::Priority priority, Devices& devices) {
    for (; resumed_ < rests_.size(); ++resumed_) {
      const Rest& rest = rests_[resumed_];
      if (rest.entry.item->priority > priority) return;
      const Width width = with_device(*rest.entry.item->width);
      const auto begins = devices.resume(width, rest.seconds, rest.stops);
      if (begins) set(rest.entry, rest.started, *begins + rest.seconds);
    }
  }

  // Of a search that runs in segments, each of which begins with `overhead` seconds, on the same
  // GPUs.
  static double in_segments(double whole, int64_t segment, double overhead) {
    const auto turn = static_cast<double>(segment);
    if (turn <= overhead || whole <= turn) return whole;
    return whole + overhead * std::ceil((whole - turn) / (turn - overhead));
  }

  double in_segments_of(const PlanItem& item, double whole, const RuntimeModel& model,
                        const Width& width) const {
    if (item.priority <= db::Priority::kUrgent || !asks_of(item).size.empty()) return whole;
    return in_segments(whole, snapshot_.limits.segment, run_seconds(model, 0, width));
  }

  int64_t segment_of_job(const PlanItem& item) const {
    if (!snapshot_.gpus) return 0;
    const auto found = snapshot_.gpus->segments.find(item.id);
    return found == snapshot_.gpus->segments.end() ? 0 : found->second;
  }

  // Seconds from now, negative for one that runs.
  std::optional<double> start_of_job(const PlanItem& item) const {
    if (!item.waits) {
      if (item.started == 0) return std::nullopt;
      return static_cast<double>(item.started) - now_;
    }
    if (!snapshot_.gpus) return std::nullopt;
    const auto found = snapshot_.gpus->starts.find(item.id);
    if (found == snapshot_.gpus->starts.end()) return std::nullopt;
    return std::max(0.0, found->second);
  }

  std::optional<Devices> devices_for_ready() const {
    if (!snapshot_.pause_reason.empty()) return std::nullopt;
    if (snapshot_.gpus) {
      // The cluster's own queue is in the forecast: it takes any number of jobs one by one.
      return Devices(snapshot_.gpus->likely, snapshot_.limits.slots);
    }
    if (snapshot_.limits.queues) return std::nullopt;
    // A slot with a job of which nobody knows the end is none to count on.
    const auto unknown =
        std::max<int64_t>(0, snapshot_.busy_slots - static_cast<int64_t>(busy_.size()));
    const int64_t slots = snapshot_.limits.slots - unknown;
    if (slots < 1) return std::nullopt;
    NodeForecast free = busy_;
    free.resize(static_cast<size_t>(std::max<int64_t>(slots, static_cast<int64_t>(free.size()))),
                0);
    return Devices({std::move(free)}, static_cast<int>(slots));
  }

  void add_waiting(const Entry& entry, const JobStart* start, int64_t left, Devices& devices) {
    const PlanItem& item = *entry.item;
    const SearchTime* time = time_of(item);
    std::optional<Width> width;
    if (time != nullptr) {
      width = start != nullptr ? with_device(start->width) : width_of(item, *time, left, devices);
    }
    const double seconds = width ? run_seconds_of(item, *time, *width) : 0;
    const auto begins = width ? devices.take(*width, seconds) : std::nullopt;
    if (!begins) {
      ++plan_.queue.unknown;
      return;
    }
    set(entry, *begins, *begins + seconds);
  }

  double run_seconds_of(const PlanItem& item, const SearchTime& time, const Width& width) {
    if (item.left < 1) {
      const double rest = run_seconds(time.model, time.work * item.left, width);
      return in_segments_of(item, rest, time.model, width);
    }
    const bool urgent = item.priority <= db::Priority::kUrgent;
    const auto known = std::find_if(last_.begin(), last_.end(), [&](const auto& one) {
      return one.kind == item.kind && one.urgent == urgent && one.width == width;
    });
    if (known != last_.end()) return known->seconds;
    const double seconds =
        in_segments_of(item, run_seconds(time.model, time.work, width), time.model, width);
    constexpr size_t kFew = 16;
    if (last_.size() == kFew) last_.erase(last_.begin());
    last_.push_back({.kind = item.kind, .urgent = urgent, .width = width, .seconds = seconds});
    return seconds;
  }

  std::optional<Width> width_of(const PlanItem& item, const SearchTime& time, int64_t left,
                                Devices& devices) {
    const auto rules = snapshot_.limits.classes.find(item.priority);
    if (rules == snapshot_.limits.classes.end()) {
      return with_device(width_for(snapshot_.limits, item.priority));
    }
    const bool by_wait = item.priority <= db::Priority::kUrgent || item.finish_by > snapshot_.now;
    const Menu& menu = menu_of(item, time, rules->second, item.finish_by > snapshot_.now);
    if (menu.empty()) return std::nullopt;
    if (by_wait) return width_by_wait(item, menu, devices);
    const double share = devices.count() / static_cast<double>(std::max<int64_t>(1, left));
    if (menu.size() == 1 || menu[1].width.gpus() > share) return menu.front().width;
    return width_by_share(menu, share, devices);
  }

  // As rule 2 has it: the widest within the share that is done no later than a narrower one.
  Width width_by_share(const Menu& menu, double share, Devices& devices) {
    if (by_wait_++ >= kMostByWait) return menu.front().width;
    Width chosen = menu.front().width;
    double first = kLongest;
    for (const Timed& one : menu) {
      if (one.width.gpus() > share) break;
      const auto wait = devices.earliest(one.width);
      if (!wait || *wait + one.seconds > first) continue;
      first = *wait + one.seconds;
      chosen = one.width;
    }
    return chosen;
  }

  // As rules 1 and 3 have it, but with expected times alone.
  Width width_by_wait(const PlanItem& item, const Menu& menu, Devices& devices) {
    if (by_wait_++ >= kMostByWait) return menu.front().width;
    const double until = static_cast<double>(item.finish_by) - now_;
    std::vector<std::pair<double, Width>> done;
    double first = kLongest;
    for (const Timed& one : menu) {
      const auto wait = devices.earliest(one.width);
      if (!wait) continue;
      done.emplace_back(*wait + one.seconds, one.width);
      first = std::min(first, done.back().first);
    }
    const bool due = item.finish_by > snapshot_.now && first <= until;
    const double bound = due ? until : first * kLonger;
    const auto found = std::find_if(done.begin(), done.end(),
                                    [bound](const auto& one) { return one.first <= bound; });
    return found == done.end() ? menu.front().width : found->second;
  }

  const Menu& menu_of(const PlanItem& item, const SearchTime& time, const ClassWidths& rules,
                      bool due) {
    const auto [known, is_new] = menus_.try_emplace({item.priority, item.kind, due});
    if (!is_new) return known->second;
    const ClusterLimits& limits = snapshot_.limits;
    for (const Width& width : limits.menu) {
      const bool fits = limits.most_nodes == 0 || width.nodes <= limits.most_nodes;
      if (!fits || width < rules.least || width > (due ? rules.deadline_cap : rules.cap)) continue;
      const bool narrowest = known->second.empty();
      const double used = efficiency(time.model, time.work, width);
      if (!narrowest && used < rules.least_efficiency) continue;
      known->second.push_back({width, run_seconds(time.model, time.work, width)});
    }
    return known->second;
  }

  struct Known {
    int kind = -1;
    bool urgent = false;
    Width width{};
    double seconds = 0;
  };

  const QueueSnapshot& snapshot_;
  Plan& plan_;
  double now_;
  std::vector<double> busy_{};  // seconds until the running jobs end
  std::vector<Rest> rests_{};
  size_t resumed_ = 0;  // of these
  std::map<std::tuple<db::Priority, int, bool>, Menu> menus_{};
  std::vector<Known> last_{};
  int by_wait_ = 0;
};

// For items that are not in the plan yet.
void add_fastest(const QueueSnapshot& snapshot, Plan& plan) {
  Deadlines deadlines(snapshot);
  for (size_t kind = 0; kind < snapshot.kinds.size(); ++kind) {
    PlanItem item{.kind = static_cast<int>(kind)};
    FastestSearch& fastest = plan.fastest.emplace_back();
    fastest.kind = snapshot.kinds[kind];
    for (size_t i = 0; i < fastest.seconds.size(); ++i) {
      item.priority = static_cast<db::Priority>(i);
      fastest.seconds[i] = deadlines.least_seconds(item).value_or(0);
    }
  }
}

}  // namespace

void expect_times(const QueueSnapshot& snapshot, const std::vector<Entry>& ready,
                  const std::vector<Entry>& others, Plan& plan) {
  Expectation expectation(snapshot, plan);
  expectation.add_others(others);
  expectation.add_ready(ready);
  add_fastest(snapshot, plan);
}

}  // namespace scheduler
