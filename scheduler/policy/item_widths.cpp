#include "scheduler/policy/item_widths.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/text.h"
#include "scheduler/forecast/rates.h"
#include "scheduler/forecast/span_text.h"

namespace scheduler {
namespace {

constexpr double kWorthwhileGain = 0.9;
constexpr int64_t kForCheckpoint = 120;

int gpus_up(const ClusterForecast& cluster) {
  size_t gpus = 0;
  for (const NodeForecast& node : cluster) gpus += node.size();
  return static_cast<int>(gpus);
}

// What its newest checkpoint lacks.
double work_of(const PlanItem& item, const SearchTime& time) { return time.work * item.left; }

bool has_room_for(const WidthChoice& choice, const Width& width) {
  return std::any_of(choice.forecasts.begin(), choice.forecasts.end(),
                     [&](const WidthForecast& forecast) { return forecast.width == width; });
}

// Whether a job that has `left` seconds to run is stopped for a wider one. A job that meets its
// deadline stays, and one that does not must gain by the measure that its width was chosen by.
bool gains(const WidthChoice& choice, double left, std::optional<double> deadline,
           const RuntimeModel& model) {
  const WidthForecast& wider = chosen(choice);
  if (wider.done_likely >= kWorthwhileGain * left) return false;
  if (!deadline) return true;
  const double late = bounded(left, model, kNinetyPercent);
  return late > *deadline && wider.done_late < kWorthwhileGain * late;
}

}  // namespace

ItemWidths::ItemWidths(const QueueSnapshot& snapshot, std::map<db::Priority, int64_t> ready)
    : snapshot_(snapshot),
      ready_(std::move(ready)),
      spare_(snapshot.gpus ? snapshot.gpus->free_now : 0),
      gpus_(snapshot.gpus) {
  for (const PlanItem& item : snapshot.items) {
    const bool waits = item.state == db::ItemState::kQueued && !item.cancel_requested;
    if (waits && item.priority == db::Priority::kUrgent) ++urgent_[item.kind];
    const bool active = item.state == db::ItemState::kActive;
    const bool pending = active && item.waits;
    if (pending) ++pending_[item.priority];
    if (pending && item.width) spare_ -= item.width->gpus();
    const SearchTime* time = waits || pending ? time_of(item) : nullptr;
    if (time != nullptr) {
      waiting_work_ += work_of(item, *time);
      ++waiting_items_;
    }
    if (active && item.priority == db::Priority::kUrgent) ++urgent_jobs_[item.kind];
    if (active && item.width && !item.waits && !runs_elsewhere(snapshot.limits, item)) {
      held_[item.priority] += item.width->gpus();
    }
    const bool bulk = item.priority > db::Priority::kUrgent;
    const bool frees = active && bulk && item.stop_asked && !item.waits && item.width;
    if (frees) claimed_ += item.width->gpus();
  }
}

const SearchTime* ItemWidths::time_of(const PlanItem& item) const {
  if (item.kind < 0 || static_cast<size_t>(item.kind) >= snapshot_.times.size()) return nullptr;
  const auto& time = snapshot_.times[static_cast<size_t>(item.kind)];
  return time ? &*time : nullptr;
}

int64_t ItemWidths::sharing(const PlanItem& item) const {
  int64_t count = 0;
  for (const auto& [priority, ready] : ready_) {
    if (priority <= item.priority) count += ready;
  }
  return std::max<int64_t>(1, count);
}

int ItemWidths::usable_for(db::Priority priority) const {
  int gpus = gpus_up(snapshot_.gpus->likely);
  for (const auto& [higher, held] : held_) {
    if (higher < priority) gpus -= held;
  }
  return std::max(1, gpus);
}

// None where the figures are not known, or are not those of its jobs: its own options or its
// class's may lead to other nodes, or ask for other jobs.
const SearchTime* ItemWidths::time_to_choose_by(const PlanItem& item) const {
  if (!gpus_ || has_own_place(snapshot_.limits, item)) return nullptr;
  return time_of(item);
}

// As time_to_choose_by() and choose() have it.
std::string ItemWidths::why_not_chosen(const PlanItem& item) const {
  const ItemAsks& asks = asks_of(item);
  if (asks.own_width || !asks.size.empty()) return "its own options say how large its job is";
  if (runs_elsewhere(snapshot_.limits, item)) {
    return asks.place.contains("partition") || asks.place.contains("reservation")
               ? "it names a partition or reservation of its own"
               : "its class names a partition or reservation";
  }
  if (item.kind < 0) return kImageUnknown;
  if (time_of(item) == nullptr) {
    const auto why = snapshot_.no_time.find(item.kind);
    return why == snapshot_.no_time.end() ? "how long it takes is not known" : why->second;
  }
  if (!gpus_) {
    return "when GPUs will be free is not known" +
           (snapshot_.no_gpus.empty() ? "" : ": " + snapshot_.no_gpus);
  }
  return "the cluster has no room for any width that its class may have";
}

bool ItemWidths::was_refused(const PlanItem& item, const Width& width) const {
  return snapshot_.refused_lanes.contains(
      lane_of_width(snapshot_.limits, item.priority, asks_of(item).lane, width));
}

// What the cluster refuses, or a limit of it allows no more of at present.
bool ItemWidths::is_held(const PlanItem& item, const Width& width) const {
  if (snapshot_.held_lanes.empty()) return false;
  const std::string lane =
      lane_of_width(snapshot_.limits, item.priority, asks_of(item).lane, width);
  return snapshot_.held_lanes.contains(lane);
}

std::vector<Width> ItemWidths::menu_for(const PlanItem& item, const ClassWidths& rules) const {
  std::vector<Width> menu;
  const JobBounds bounds = bounds_of(snapshot_.bounds, item);
  for (const Width& width : snapshot_.limits.menu) {
    if (width >= rules.least && fits(width, snapshot_.limits, bounds) && !is_held(item, width))
      menu.push_back(width);
  }
  return menu;
}

// Seconds until then. One that has passed gives nobody more GPUs than others get.
std::optional<double> ItemWidths::deadline_of(const PlanItem& item) const {
  if (item.finish_by <= snapshot_.now) return std::nullopt;
  return static_cast<double>(item.finish_by - snapshot_.now);
}

std::optional<WidthChoice> ItemWidths::choose(const PlanItem& item, double work,
                                              const RuntimeModel& model, const ClassWidths& rules,
                                              const GpuForecast& gpus) const {
  WidthQuestion question{.work = work,
                         .model = model,
                         .rules = {.least_efficiency = rules.least_efficiency,
                                   .cap_gpus = rules.cap.gpus(),
                                   .deadline_cap_gpus = rules.deadline_cap.gpus(),
                                   .urgent = item.priority == db::Priority::kUrgent},
                         .likely = gpus.likely,
                         .late = gpus.late,
                         .usable_gpus = usable_for(item.priority),
                         .ready_items = sharing(item)};
  question.menu = menu_for(item, rules);
  question.deadline = deadline_of(item);
  const Width& cap = question.deadline ? rules.deadline_cap : rules.cap;
  const bool none = question.menu.empty() || question.menu.front() > cap;
  return none ? std::nullopt : choose_width(question);
}

// What urgent items of the same size get does not change while they are started.
void ItemWidths::share(const PlanItem& item, const SearchTime& time, const ClassWidths& rules,
                       ItemWidth& width) {
  const int64_t items = urgent_[item.kind];
  auto& share = shares_[item.kind];
  if (!share) {
    const auto of_one = choose(item, work_of(item, time), time.model, rules, *snapshot_.gpus);
    if (!of_one) return;
    share = share_urgent(time.model, time.work, menu_for(item, rules), of_one->width, items);
  }
  if (!has_room_for(*width.choice, share->width)) return;
  width.in_turn = share->in_turn;
  width.urgent = items;
  width.choice->width = share->width;
}

ItemWidth ItemWidths::of_the_site(const PlanItem& item) const {
  return {.width = width_for(snapshot_.limits, item.priority)};
}

ItemWidth ItemWidths::of(const PlanItem& item) {
  const ClusterLimits& limits = snapshot_.limits;
  ItemWidth width = of_the_site(item);
  const SearchTime* time = time_to_choose_by(item);
  const auto rules = limits.classes.find(item.priority);
  if (rules == limits.classes.end()) return width;
  if (time != nullptr) {
    const double work = work_of(item, *time);
    width.choice = tail(item, work, time->model, rules->second);
    width.tail = width.choice.has_value();
    if (!width.tail) width.choice = choose(item, work, time->model, rules->second, *gpus_);
  }
  if (!width.choice) {
    width.not_chosen = why_not_chosen(item);
    return width;
  }
  width.not_placed = gpus_->not_placed;
  width.sharing = sharing(item);
  width.usable_gpus = usable_for(item.priority);
  if (width.choice->rule == WidthRule::kUrgent && urgent_[item.kind] > 1) {
    share(item, *time, rules->second, width);
  }
  width.width = width.choice->width;
  width.segment = segment_of(item, width);
  return width;
}

ItemWidth ItemWidths::at(const PlanItem& item, const Width& width) const {
  ItemWidth given{.width = width};
  const bool chooses = snapshot_.limits.classes.contains(item.priority);
  if (chooses && time_to_choose_by(item) != nullptr) given.segment = segment_of(item, given);
  return given;
}

// Jobs that run side by side, since that is better for all of them, do not get the width of one.
void ItemWidths::share_among_jobs(const PlanItem& item, const SearchTime& time,
                                  const ClassWidths& rules, WidthChoice& choice) {
  const int64_t items = urgent_[item.kind] + urgent_jobs_[item.kind];
  if (items <= 1 || choice.rule != WidthRule::kUrgent) return;
  const UrgentShare share =
      share_urgent(time.model, time.work, menu_for(item, rules), choice.width, items);
  if (has_room_for(choice, share.width)) choice.width = share.width;
}

// Any job but the first may follow one that was stopped for this, waiting or running: nothing is
// stopped twice for a gain that is only forecast. What waits is compared as if it started now,
// since the forecast has it among those that go first.
std::optional<ItemWidth> ItemWidths::instead(const PlanItem& item) {
  if (item.priority != db::Priority::kUrgent || asks_of(item).own_width || !item.width) {
    return std::nullopt;
  }
  const auto is_wider = [&](const Width& width) { return width.gpus() > item.width->gpus(); };
  const auto rules = snapshot_.limits.classes.find(item.priority);
  const bool chooses = rules != snapshot_.limits.classes.end();
  // That the cluster does not answer for a moment is no reason to stop anything.
  if (chooses && !gpus_) return std::nullopt;
  const SearchTime* time = chooses ? time_to_choose_by(item) : nullptr;
  if (time == nullptr || item.width->gpus() == 0) {
    const ItemWidth width = of_the_site(item);
    return is_wider(width.width) ? std::optional(width) : std::nullopt;
  }
  const double whole = run_seconds(time->model, work_of(item, *time), *item.width);
  const bool has_run = !item.waits && item.started > 0;
  const double ran = has_run ? static_cast<double>(snapshot_.now - item.started) : 0;
  const double left = std::max(0.0, whole - ran);
  SearchTime rest = *time;
  rest.work = work_of(item, *time) * left / whole;
  ItemWidth width{.choice = choose(item, rest.work, rest.model, rules->second, *gpus_)};
  if (!width.choice) return std::nullopt;
  share_among_jobs(item, rest, rules->second, *width.choice);
  width.width = width.choice->width;
  width.done_now = left;
  const bool pays = item.stop_asked ||
                    (item.first_job && gains(*width.choice, left, deadline_of(item), time->model));
  const bool too_narrow = *item.width < rules->second.least;
  if (!is_wider(width.width) || !(pays || too_narrow) || was_refused(item, width.width)) {
    return std::nullopt;
  }
  return width;
}

// What is urgent keeps its GPUs until it is done, if Slurm lets it.
int64_t ItemWidths::segment_of(const PlanItem& item, const ItemWidth& width) const {
  const bool bulk = item.priority > db::Priority::kUrgent;
  int64_t segment = bulk ? snapshot_.limits.segment : 0;
  // One that is over before the search begins would never end.
  const SearchTime* time = time_of(item);
  if (time != nullptr && static_cast<double>(segment) <= run_seconds(time->model, 0, width.width)) {
    segment = 0;
  }
  const int64_t most = bounds_of(snapshot_.bounds, item).most_seconds;
  if (most > 0) {
    const int64_t longest = std::max(most / 2, most - kForCheckpoint);
    segment = segment == 0 ? longest : std::min(segment, longest);
  }
  if (segment == 0) return 0;
  return late_seconds_of(item, width) > static_cast<double>(segment) ? segment : 0;
}

int64_t ItemWidths::limit_of(const PlanItem& item, const ItemWidth& width) const {
  // What an item asks for itself may make its job another one than those that were measured.
  const SearchTime* time = asks_of(item).own_options ? nullptr : time_to_choose_by(item);
  if (time == nullptr || !time->well_known || width.width.gpus() == 0) return 0;
  int64_t longest = bounds_of(snapshot_.bounds, item).most_seconds;
  if (item.priority > db::Priority::kUrgent && snapshot_.limits.segment > 0) {
    const int64_t segment = snapshot_.limits.segment + kForCheckpoint;
    longest = longest > 0 ? std::min(longest, segment) : segment;
  }
  return time_limit(time->model, seconds_of(item, width), static_cast<double>(kForCheckpoint),
                    longest);
}

double ItemWidths::seconds_of(const PlanItem& item, const ItemWidth& width) const {
  const SearchTime* time = time_of(item);
  const int gpus = std::max(1, width.width.gpus());
  if (time == nullptr || width.width.gpus() == 0) return snapshot_.usual_job_seconds / gpus;
  return run_seconds(time->model, work_of(item, *time), width.width);
}

double ItemWidths::turn_seconds(const PlanItem& item, const ItemWidth& width) const {
  const double seconds = seconds_of(item, width);
  const int64_t segment = segment_of(item, width);
  return segment > 0 ? std::min(seconds, static_cast<double>(segment)) : seconds;
}

double ItemWidths::late_seconds_of(const PlanItem& item, const ItemWidth& width) const {
  const SearchTime* time = time_of(item);
  const double seconds = seconds_of(item, width);
  return time == nullptr ? seconds : bounded(seconds, time->model, kNinetyPercent);
}

void ItemWidths::take(const PlanItem& item, const ItemWidth& width) {
  spare_ -= width.width.gpus();
  const SearchTime* time = time_of(item);
  if (!gpus_ || time == nullptr || width.width.gpus() == 0) return;
  const double seconds = run_seconds(time->model, work_of(item, *time), width.width);
  const double most =
      width.segment > 0 ? static_cast<double>(width.segment) : std::numeric_limits<double>::max();
  place(gpus_->likely, width.width, std::min(seconds, most));
  place(gpus_->late, width.width, std::min(bounded(seconds, time->model, kNinetyPercent), most));
}

}  // namespace scheduler
