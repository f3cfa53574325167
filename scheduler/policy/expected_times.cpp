#include "scheduler/policy/expected_times.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include "scheduler/policy/deadlines.h"
#include "scheduler/policy/devices.h"
#include "scheduler/policy/expected_widths.h"
#include "scheduler/policy/runtime_model.h"
#include "scheduler/policy/wait_forecast.h"

namespace scheduler {
namespace {

constexpr double kLongest = 2e9;

int32_t whole(double seconds) {
  return static_cast<int32_t>(std::ceil(std::clamp(seconds, 0.0, kLongest)));
}

class Expectation {
 public:
  Expectation(const QueueSnapshot& snapshot, Plan& plan)
      : snapshot_(snapshot),
        plan_(plan),
        now_(static_cast<double>(snapshot.now)),
        widths_(snapshot.limits, snapshot.now) {}

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
    std::optional<double> begins;
    double seconds = 0;
    if (const SearchTime* time = time_of(item)) {
      const WaitingSearch search{.priority = item.priority,
                                 .kind = item.kind,
                                 .time = time,
                                 .left = item.left,
                                 .finish_by = item.finish_by,
                                 .own_size = !asks_of(item).size.empty()};
      const auto width = start != nullptr ? std::optional(with_device(start->width))
                                          : widths_.of(search, left, devices);
      if (width) {
        seconds = widths_.run_seconds_of(search, *width);
        begins = devices.take(*width, seconds);
      }
    }
    if (!begins) {
      ++plan_.queue.unknown;
      return;
    }
    set(entry, *begins, *begins + seconds);
  }

  const QueueSnapshot& snapshot_;
  Plan& plan_;
  double now_;
  ExpectedWidths widths_;
  std::vector<double> busy_{};  // seconds until the running jobs end
  std::vector<Rest> rests_{};
  size_t resumed_ = 0;  // of these
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
