#include "scheduler/policy/item_forecast.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "scheduler/forecast/devices.h"
#include "scheduler/forecast/runtime_model.h"
#include "scheduler/policy/expected_widths.h"

namespace scheduler {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr double kNoticed = 60;  // seconds that an item is delayed by

// A waiting item that has expected times, in the order in which they have their turns.
struct Turn {
  const Decision* decision = nullptr;
  const SearchTime* time = nullptr;
  Width width{};
  double seconds = 0;
};

double seconds_of(const Decision& decision) {
  return static_cast<double>(decision.done_in) - static_cast<double>(decision.starts_in);
}

const SearchTime* time_of(const Plan& plan, const Decision& decision) {
  const size_t kind = decision.kind;
  const bool is_known = kind != Decision::kNoKind && kind < plan.times.size() && plan.times[kind];
  return is_known ? &*plan.times[kind] : nullptr;
}

bool is_ready(const Plan& plan, const Decision& decision) {
  return decision.verdict == Verdict::kStart ||
         (decision.verdict == Verdict::kWait &&
          plan.reasons.at(decision.reason).why == Why::kQueue);
}

Width width_of(const Plan& plan, const Decision& decision, const Width* of_start) {
  if (decision.width < plan.limits.menu.size()) return plan.limits.menu[decision.width];
  return with_device(of_start != nullptr ? *of_start : width_for(plan.limits, decision.priority));
}

// By class, and there in their order.
std::vector<Turn> turns_of(const Plan& plan) {
  std::unordered_map<int64_t, std::pair<int64_t, const JobStart*>> starts;
  for (const JobStart& start : plan.starts) {
    starts.emplace(start.item_id, std::pair(static_cast<int64_t>(starts.size()), &start));
  }
  // Class, those that wait before it, whether it waits, and which of the starts, or of the items,
  // it is.
  using Place = std::tuple<db::Priority, int32_t, bool, int64_t>;
  std::vector<std::pair<Place, Turn>> placed;
  for (const Decision& decision : plan.decisions) {
    const SearchTime* time = time_of(plan, decision);
    if (decision.done_in < 0 || time == nullptr || !is_ready(plan, decision)) continue;
    const auto start = starts.find(decision.item_id);
    const bool waits = start == starts.end();
    const db::Priority priority = decision.priority;
    placed.emplace_back(
        Place(priority, decision.count, waits, waits ? decision.item_id : start->second.first),
        Turn{.decision = &decision,
             .time = time,
             .width = width_of(plan, decision, waits ? nullptr : &start->second.second->width),
             .seconds = seconds_of(decision)});
  }
  std::sort(placed.begin(), placed.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Turn> turns;
  turns.reserve(placed.size());
  for (const auto& one : placed) turns.push_back(one.second);
  return turns;
}

PlanItem as_plan_item(const ForecastItem& item, db::Priority priority) {
  return {.priority = priority, .asks = item.asks};
}

// The devices between two turns, and which of the searches that resume have done so.
struct Line {
  Devices devices;
  size_t resumed = 0;
};

class Replay {
 public:
  Replay(const Plan& plan, const Decision& decision, const ForecastItem& item)
      : placing_(*plan.placing),
        target_(decision),
        turns_(turns_of(plan)),
        widths_(plan.limits, plan.made),
        search_{.priority = decision.priority,
                .kind = decision.kind,
                .time = time_of(plan, decision),
                .finish_by = item.finish_by,
                .own_place = has_own_place(plan.limits, as_plan_item(item, decision.priority)),
                .bounds = bounds_of(plan.bounds, as_plan_item(item, decision.priority))},
        plan_(plan),
        item_(item) {
    const auto left = placing_.left.find(decision.item_id);
    if (left != placing_.left.end()) search_.left = left->second;
  }

  ItemForecast run() {
    ItemForecast forecast{.not_placed = placing_.not_placed};
    place_as_planned();
    place_late();
    if (own_ == nullptr) return {.start_late = kUnbounded, .done_late = kUnbounded};
    const bool waits = target_.verdict == Verdict::kWait;
    if (waits) {
      forecast.width = own_->width;
      for (const Width& width : widths_.allowed(search_)) add_width(width, forecast);
      add_promotions(forecast);
    }
    const auto start = late_->devices.take(own_->width, late(seconds_of(target_)));
    forecast.start_late =
        std::max(start.value_or(kUnbounded), static_cast<double>(target_.starts_in));
    forecast.done_late = forecast.start_late + late(seconds_of(target_));
    return forecast;
  }

 private:
  // Before the turns of which class the line stood so.
  struct Boundary {
    size_t turn = 0;
    Line line;
  };

  double late(double seconds) const {
    return bounded(seconds, search_.time->model, kNinetyPercent);
  }

  void resume_up_to(db::Priority priority, Line& line, std::vector<double>& done) const {
    for (; line.resumed < placing_.resumed.size(); ++line.resumed) {
      const ResumedSearch& rest = placing_.resumed[line.resumed];
      if (rest.priority > priority) return;
      if (rest.seconds <= 0) continue;
      const auto start = line.devices.resume(rest.width, rest.seconds, rest.stops);
      done[line.resumed] = start.value_or(0) + rest.seconds;
    }
  }

  // With the promoted item in its new place, it has no turn at its old one.
  std::pair<std::vector<double>, std::vector<double>> place_from(size_t first, Line& line) const {
    std::vector<double> done(turns_.size());
    std::vector<double> resumed(placing_.resumed.size());
    for (size_t i = first; i < turns_.size(); ++i) {
      const Turn& turn = turns_[i];
      if (turn.decision == &target_) continue;
      resume_up_to(turn.decision->priority, line, resumed);
      done[i] = line.devices.take(turn.width, turn.seconds).value_or(0) + turn.seconds;
    }
    resume_up_to(db::Priority::kLow, line, resumed);
    return {std::move(done), std::move(resumed)};
  }

  void place_as_planned() {
    Line line{.devices = Devices(placing_.likely, placing_.most_jobs, placing_.counts_gpus)};
    done_.resize(turns_.size());
    resumed_.resize(placing_.resumed.size());
    for (size_t i = 0; i < turns_.size(); ++i) {
      const Turn& turn = turns_[i];
      const db::Priority priority = turn.decision->priority;
      note_boundaries(priority, i, line);
      resume_up_to(priority, line, resumed_);
      if (turn.decision == &target_) {
        own_ = &turn;
        at_turn_ = line;
      }
      done_[i] = line.devices.take(turn.width, turn.seconds).value_or(0) + turn.seconds;
    }
    resume_up_to(db::Priority::kLow, line, resumed_);
  }

  // Of the classes above the target's of which all turns have been, when this class's first comes.
  void note_boundaries(db::Priority priority, size_t turn, const Line& line) {
    for (int above = static_cast<int>(db::Priority::kUrgent);
         above < static_cast<int>(std::min(priority, target_.priority)); ++above) {
      const auto of_class = static_cast<db::Priority>(above);
      if (boundaries_.contains(of_class)) continue;
      std::vector<double> unused(placing_.resumed.size());
      const auto [noted, is_new] = boundaries_.emplace(of_class, Boundary{turn, line});
      resume_up_to(of_class, noted->second.line, unused);
    }
  }

  // Up to the target's turn.
  void place_late() {
    late_.emplace(
        Line{.devices = Devices(placing_.late, placing_.most_jobs, placing_.counts_gpus)});
    const auto resume = [this](db::Priority priority) {
      for (; late_->resumed < placing_.resumed.size(); ++late_->resumed) {
        const ResumedSearch& rest = placing_.resumed[late_->resumed];
        if (rest.priority > priority) return;
        late_->devices.resume(rest.width, rest.late_seconds, rest.stops);
      }
    };
    for (const Turn& turn : turns_) {
      resume(turn.decision->priority);
      if (turn.decision == &target_) return;
      late_->devices.take(turn.width, bounded(turn.seconds, turn.time->model, kNinetyPercent));
    }
  }

  void add_width(const Width& width, ItemForecast& forecast) {
    const double run = widths_.run_seconds_of(search_, width);
    WidthAtTurn at{.width = width, .run = run};
    if (width == own_->width) {
      at.wait = static_cast<double>(target_.starts_in);
      at.done = static_cast<double>(target_.done_in);
    } else {
      const auto wait = at_turn_->devices.earliest(width);
      if (!wait) return;
      at.wait = *wait;
      at.done = *wait + run;
    }
    const double late_wait = late_->devices.earliest(width).value_or(kUnbounded);
    at.done_late = std::max(late_wait, at.wait) + late(run);
    forecast.widths.push_back(at);
  }

  void add_promotions(ItemForecast& forecast) {
    for (auto boundary = boundaries_.rbegin(); boundary != boundaries_.rend(); ++boundary) {
      add_promotion(boundary->first, boundary->second, forecast);
    }
  }

  void add_promotion(db::Priority priority, const Boundary& boundary, ItemForecast& forecast) {
    WaitingSearch search = search_;
    search.priority = priority;
    search.own_place = has_own_place(plan_.limits, as_plan_item(item_, priority));
    search.bounds = bounds_of(plan_.bounds, as_plan_item(item_, priority));
    Line line = boundary.line;
    const auto width = widths_.of(search, 1, line.devices);
    if (!width) return;
    const double seconds = widths_.run_seconds_of(search, *width);
    const auto start = line.devices.take(*width, seconds);
    if (!start) return;
    Promotion promotion{
        .priority = priority,
        .width = *width,
        .start = *start,
        .done = *start + seconds,
        .sooner = static_cast<double>(target_.done_in) - (*start + seconds),
        .more_gpu_seconds = width->gpus() * seconds - own_->width.gpus() * own_->seconds};
    const auto delay = [&](double before, double then) {
      promotion.longest_delay = std::max(promotion.longest_delay, then - before);
      if (then - before >= kNoticed) ++promotion.delayed;
    };
    const size_t resumed_before = line.resumed;
    const auto [done, resumed] = place_from(boundary.turn, line);
    for (size_t i = boundary.turn; i < turns_.size(); ++i) {
      if (turns_[i].decision != &target_) delay(done_[i], done[i]);
    }
    for (size_t i = resumed_before; i < resumed.size(); ++i) delay(resumed_[i], resumed[i]);
    forecast.promotions.push_back(promotion);
  }

  const Placing& placing_;
  const Decision& target_;
  std::vector<Turn> turns_;
  ExpectedWidths widths_;
  WaitingSearch search_;
  const Plan& plan_;
  const ForecastItem& item_;
  const Turn* own_ = nullptr;
  // As planned: when each turn, and each search that resumes, is done.
  std::vector<double> done_{};
  std::vector<double> resumed_{};
  std::optional<Line> at_turn_{};  // before the target's turn, as expected
  std::optional<Line> late_{};     // and with 90 % certainty
  std::map<db::Priority, Boundary> boundaries_{};
};

// Of an item that has a job.
ItemForecast forecast_job_of(const Plan& plan, const Decision& decision, const SearchTime& time,
                             const ForecastItem& item) {
  ItemForecast forecast;
  const auto done = static_cast<double>(decision.done_in);
  if (item.started > 0) {
    const auto ran = static_cast<double>(std::max<int64_t>(0, plan.made - item.started));
    forecast.done_late = std::max(done, bounded(ran + done, time.model, kNinetyPercent) - ran);
    return forecast;
  }
  forecast.start_late = forecast.done_late = kUnbounded;
  if (!plan.placing) return forecast;
  const auto late = plan.placing->late_starts.find(decision.item_id);
  if (late == plan.placing->late_starts.end()) return forecast;
  forecast.start_late = std::max(0.0, late->second);
  forecast.done_late =
      forecast.start_late + bounded(seconds_of(decision), time.model, kNinetyPercent);
  return forecast;
}

}  // namespace

std::optional<ItemForecast> forecast_item(const Plan& plan, const Decision& decision,
                                          const ForecastItem& item) {
  const SearchTime* time = time_of(plan, decision);
  if (decision.done_in < 0 || time == nullptr) return std::nullopt;
  if (!is_ready(plan, decision)) return forecast_job_of(plan, decision, *time, item);
  if (!plan.placing) return std::nullopt;
  return Replay(plan, decision, item).run();
}

}  // namespace scheduler
