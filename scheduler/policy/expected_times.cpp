#include "scheduler/policy/expected_times.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include "scheduler/forecast/devices.h"
#include "scheduler/forecast/runtime_model.h"
#include "scheduler/forecast/wait_forecast.h"
#include "scheduler/policy/deadlines.h"
#include "scheduler/policy/expected_widths.h"

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
        widths_(snapshot.limits, snapshot.now) {
    for (size_t i = 0; i < class_bounds_.size(); ++i) {
      class_bounds_[i] = bounds_of(snapshot.bounds, static_cast<db::Priority>(i), {});
    }
  }

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
    std::stable_sort(rests_.begin(), rests_.end(), [](const Rest& a, const Rest& b) {
      return std::pair(a.of.priority, a.of.stops) < std::pair(b.of.priority, b.of.stops);
    });
    plan_.placing = devices_for_ready();
    if (!plan_.placing) {
      plan_.queue.unknown += static_cast<int64_t>(ready.size());
      return;
    }
    Devices devices(plan_.placing->likely, plan_.placing->most_jobs, plan_.placing->counts_gpus);
    ByClass left{};
    for (const Entry& entry : ready) ++left[static_cast<size_t>(entry.item->priority)];
    // Those that a floor lets go first are not in the order of the items.
    std::unordered_map<int64_t, const JobStart*> starts;
    for (const JobStart& start : plan_.starts) starts.emplace(start.item_id, &start);
    for (const Entry& entry : ready) {
      const PlanItem& item = *entry.item;
      int64_t& of_class = left[static_cast<size_t>(item.priority)];
      resume_up_to(item.priority, devices);
      const auto start = starts.find(item.id);
      add_waiting(entry, start == starts.end() ? nullptr : start->second, of_class, devices);
      --of_class;
    }
    resume_up_to(db::Priority::kLow, devices);
    for (const Rest& rest : rests_) plan_.placing->resumed.push_back(rest.of);
  }

 private:
  struct Rest {
    ResumedSearch of{};
    double started = 0;  // seconds from now
  };

  const SearchTime* time_of(const PlanItem& item) const {
    if (item.kind < 0 || static_cast<size_t>(item.kind) >= snapshot_.times.size()) return nullptr;
    const auto& time = snapshot_.times[static_cast<size_t>(item.kind)];
    return time && !asks_of(item).own_width ? &*time : nullptr;
  }

  void set(uint32_t number, double start, double done) {
    Decision& decision = plan_.decisions[number];
    decision.starts_in = whole(start);
    decision.done_in = whole(done);
    plan_.queue.done_in = std::max(plan_.queue.done_in, int64_t{decision.done_in});
  }

  void note_kind(const Entry& entry) {
    const int kind = entry.item->kind;
    if (kind < Decision::kNoKind) {
      plan_.decisions[entry.decision].kind = static_cast<uint16_t>(kind);
    }
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
    const double late = bounded(whole, time->model, kNinetyPercent);
    const int64_t segment = segment_of_job(item);
    const double overhead = run_seconds(time->model, 0, width);
    const double seconds = in_segments(whole, segment, overhead);
    const double late_seconds = in_segments(late, segment, overhead);
    set(entry.decision, *start, std::max(0.0, *start + seconds));
    note_kind(entry);
    const auto turn = static_cast<double>(segment);
    const bool stops = seconds > whole;
    if (!item.waits) {
      busy_.push_back(std::max(0.0, *start + (stops ? turn : whole)));
      busy_late_.push_back(std::max(0.0, *start + (late_seconds > late ? turn : late)));
    }
    if (late_seconds <= late) return;
    rests_.push_back({.of = {.priority = item.priority,
                             .decision = entry.decision,
                             .width = width,
                             .stops = std::max(0.0, *start + turn),
                             .seconds = stops ? seconds - turn : 0,
                             .late_seconds = late_seconds - turn},
                      .started = *start});
  }

  // A search that stops at the end of its segment resumes before the waiting items of its class,
  // most of which are newer.
  void resume_up_to(db::Priority priority, Devices& devices) {
    for (; resumed_ < rests_.size(); ++resumed_) {
      const ResumedSearch& rest = rests_[resumed_].of;
      if (rest.priority > priority) return;
      if (rest.seconds <= 0) continue;
      const auto begins = devices.resume(rest.width, rest.seconds, rest.stops);
      if (begins) set(rest.decision, rests_[resumed_].started, *begins + rest.seconds);
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

  std::optional<Placing> devices_for_ready() const {
    if (!snapshot_.pause_reason.empty()) return std::nullopt;
    if (snapshot_.gpus) {
      // The cluster's own queue is in the forecast: it takes any number of jobs one by one.
      return Placing{.likely = snapshot_.gpus->likely,
                     .late = snapshot_.gpus->late,
                     .not_placed = snapshot_.gpus->not_placed,
                     .most_jobs = snapshot_.limits.slots,
                     .late_starts = snapshot_.gpus->late_starts};
    }
    if (snapshot_.limits.queues) return std::nullopt;
    // A slot with a job of which nobody knows the end is none to count on.
    const auto unknown =
        std::max<int64_t>(0, snapshot_.busy_slots - static_cast<int64_t>(busy_.size()));
    const int64_t slots = snapshot_.limits.slots - unknown;
    if (slots < 1) return std::nullopt;
    const auto on_slots = [slots](NodeForecast busy) {
      busy.resize(static_cast<size_t>(std::max<int64_t>(slots, static_cast<int64_t>(busy.size()))),
                  0);
      return ClusterForecast{std::move(busy)};
    };
    return Placing{.likely = on_slots(busy_),
                   .late = on_slots(busy_late_),
                   .most_jobs = static_cast<int>(slots),
                   .counts_gpus = false};
  }

  uint16_t number_of(const Width& width) const {
    const std::vector<Width>& menu = snapshot_.limits.menu;
    const auto number = std::find(menu.begin(), menu.end(), width) - menu.begin();
    const bool is_there =
        number < std::min<std::ptrdiff_t>(std::ssize(menu), Decision::kFixedWidth);
    return is_there ? static_cast<uint16_t>(number) : Decision::kFixedWidth;
  }

  // Most items ask for nothing of their own.
  JobBounds bounds_for(const PlanItem& item) const {
    if (!asks_of(item).place.empty()) return bounds_of(snapshot_.bounds, item);
    return class_bounds_[static_cast<size_t>(item.priority)];
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
                                 .own_place = has_own_place(snapshot_.limits, item),
                                 .bounds = bounds_for(item)};
      const auto width = start != nullptr ? std::optional(with_device(start->width))
                                          : widths_.of(search, left, devices);
      if (width) {
        seconds = widths_.run_seconds_of(search, *width);
        begins = devices.take(*width, seconds);
        plan_.decisions[entry.decision].width = number_of(*width);
      }
    }
    if (!begins) {
      ++plan_.queue.unknown;
      return;
    }
    set(entry.decision, *begins, *begins + seconds);
    note_kind(entry);
    if (item.left < 1) plan_.placing->left.emplace(item.id, item.left);
  }

  const QueueSnapshot& snapshot_;
  Plan& plan_;
  double now_;
  ExpectedWidths widths_;
  std::array<JobBounds, std::tuple_size_v<ByClass>> class_bounds_{};
  std::vector<double> busy_{};       // seconds until the running jobs end, as expected,
  std::vector<double> busy_late_{};  // and with 90 % certainty
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
  plan.times = snapshot.times;
}

}  // namespace scheduler
