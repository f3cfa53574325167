#include "scheduler/policy/expected_widths.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "scheduler/forecast/runtime_model.h"

namespace scheduler {
namespace {

// To choose a width by when it is done looks at all devices: later items get their narrowest one.
constexpr int kMostByWait = 200;
constexpr double kLonger = 1.1;  // of two widths the narrower, unless it is done this much later
constexpr double kNotDone = std::numeric_limits<double>::infinity();

}  // namespace

Width with_device(const Width& width) { return width.gpus() > 0 ? width : Width{}; }

double in_segments(double whole, int64_t segment, double overhead) {
  const auto turn = static_cast<double>(segment);
  if (turn <= overhead || whole <= turn) return whole;
  return whole + overhead * std::ceil((whole - turn) / (turn - overhead));
}

double ExpectedWidths::in_segments_of(const WaitingSearch& search, double whole,
                                      const Width& width) const {
  if (search.priority <= db::Priority::kUrgent || search.own_place) return whole;
  return in_segments(whole, limits_.segment, run_seconds(search.time->model, 0, width));
}

double ExpectedWidths::run_seconds_of(const WaitingSearch& search, const Width& width) {
  const SearchTime& time = *search.time;
  if (search.left < 1) {
    return in_segments_of(search, run_seconds(time.model, time.work * search.left, width), width);
  }
  const bool urgent = search.priority <= db::Priority::kUrgent;
  const auto known = std::find_if(last_.begin(), last_.end(), [&](const Known& one) {
    return one.kind == search.kind && one.urgent == urgent && one.own_place == search.own_place &&
           one.width == width;
  });
  if (known != last_.end()) return known->seconds;
  const double seconds = in_segments_of(search, run_seconds(time.model, time.work, width), width);
  constexpr size_t kFew = 16;
  if (last_.size() == kFew) last_.erase(last_.begin());
  last_.push_back({.kind = search.kind,
                   .urgent = urgent,
                   .own_place = search.own_place,
                   .width = width,
                   .seconds = seconds});
  return seconds;
}

std::vector<Width> ExpectedWidths::allowed(const WaitingSearch& search) {
  const auto rules = limits_.classes.find(search.priority);
  if (rules == limits_.classes.end() || search.own_place) {
    return {with_device(width_for(limits_, search.priority))};
  }
  std::vector<Width> widths;
  for (const Timed& one : menu_of(search, rules->second)) widths.push_back(one.width);
  return widths;
}

std::optional<Width> ExpectedWidths::of(const WaitingSearch& search, int64_t left,
                                        Devices& devices) {
  const auto rules = limits_.classes.find(search.priority);
  if (rules == limits_.classes.end() || search.own_place) {
    return with_device(width_for(limits_, search.priority));
  }
  const Menu& menu = menu_of(search, rules->second);
  if (menu.empty()) return std::nullopt;
  if (search.priority <= db::Priority::kUrgent || is_due(search)) {
    return by_wait(search, menu, devices);
  }
  const double share = devices.count() / static_cast<double>(std::max<int64_t>(1, left));
  if (menu.size() == 1 || menu[1].width.gpus() > share) return menu.front().width;
  return by_share(menu, share, devices);
}

// As rule 2 has it: the widest within the share that is done no later than a narrower one.
Width ExpectedWidths::by_share(const Menu& menu, double share, Devices& devices) {
  if (by_wait_++ >= kMostByWait) return menu.front().width;
  Width chosen = menu.front().width;
  double first = kNotDone;
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
Width ExpectedWidths::by_wait(const WaitingSearch& search, const Menu& menu, Devices& devices) {
  if (by_wait_++ >= kMostByWait) return menu.front().width;
  const auto until = static_cast<double>(search.finish_by - now_);
  std::vector<std::pair<double, Width>> done;
  double first = kNotDone;
  for (const Timed& one : menu) {
    const auto wait = devices.earliest(one.width);
    if (!wait) continue;
    done.emplace_back(*wait + one.seconds, one.width);
    first = std::min(first, done.back().first);
  }
  const bool due = is_due(search) && first <= until;
  const double bound = due ? until : first * kLonger;
  const auto found = std::find_if(done.begin(), done.end(),
                                  [bound](const auto& one) { return one.first <= bound; });
  return found == done.end() ? menu.front().width : found->second;
}

const ExpectedWidths::Menu& ExpectedWidths::menu_of(const WaitingSearch& search,
                                                    const ClassWidths& rules) {
  const bool due = is_due(search);
  const JobBounds& most = search.bounds;
  const auto [known, is_new] =
      menus_.try_emplace({search.priority, search.kind, due, most.most_nodes, most.most_gpus});
  if (!is_new) return known->second;
  const SearchTime& time = *search.time;
  for (const Width& width : limits_.menu) {
    if (!fits(width, limits_, most) || width < rules.least ||
        width > (due ? rules.deadline_cap : rules.cap))
      continue;
    const bool narrowest = known->second.empty();
    const double used = efficiency(time.model, time.work, width);
    if (!narrowest && used < rules.least_efficiency) continue;
    known->second.push_back({width, run_seconds(time.model, time.work, width)});
  }
  return known->second;
}

}  // namespace scheduler
