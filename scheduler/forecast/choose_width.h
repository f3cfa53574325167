// Which width a job gets, and what each width would have meant: rules 0 to 3 of the policy
// (docs/policy.md). Pure.
//
// 0. Admissible are the widths of the menu up to the class's cap at which enough of the GPUs' time
//    is spent on correlations. The narrowest always is.
// 1. With a deadline: the narrowest admissible width that meets it with 90 % certainty; a deadline
//    raises the cap. When none does: the one that is done first.
// 2. Bulk (low, normal, high): as many GPUs as there are for each ready item, within the cap, and
//    never a width that is done later than a narrower one.
// 3. Urgent: what is done first; of the widths within 10 % of that, the narrowest.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/config/width.h"
#include "scheduler/forecast/runtime_model.h"
#include "scheduler/forecast/wait_forecast.h"

namespace scheduler {

struct ClassRules {
  double least_efficiency = 0.97;
  int cap_gpus = 1;           // most GPUs of a job
  int deadline_cap_gpus = 1;  // most GPUs of a job whose deadline nothing narrower meets
  bool urgent = false;        // rule 3 instead of rule 2
};

struct WidthQuestion {
  double work = 0;  // seconds on one GPU
  RuntimeModel model{};
  ClassRules rules{};
  std::vector<Width> menu{};         // narrowest first; not empty
  ClusterForecast likely{};          // when GPUs are free, as expected
  ClusterForecast late{};            // when GPUs are free, with 90 % certainty
  int usable_gpus = 0;               // GPUs that items of this class may use
  int64_t ready_items = 1;           // ready items of this class and higher ones, this one included
  std::optional<double> deadline{};  // seconds from now
};

// What one width means, in seconds.
struct WidthForecast {
  Width width{};
  double wait = 0;
  double run = 0;
  double done_likely = 0;  // wait and run
  double done_late = 0;    // not exceeded with 90 % certainty; infinite: nothing is certain
  double efficiency = 0;
  bool admissible = false;
};

enum class WidthRule { kDeadline, kAtRisk, kBulk, kUrgent };

struct WidthChoice {
  Width width{};
  WidthRule rule = WidthRule::kBulk;
  double late_by = 0;                      // for kAtRisk: seconds after the deadline, or infinite
  std::vector<WidthForecast> forecasts{};  // for the widths for which the cluster has room
};

// The forecast of the chosen width.
const WidthForecast& chosen(const WidthChoice& choice);

// nullopt when the cluster has room for no width of the menu.
std::optional<WidthChoice> choose_width(const WidthQuestion& question);

// The widest of the menu with at most `gpus` GPUs; the narrowest when none has so few.
Width widest_within(const std::vector<Width>& menu, double gpus);

// How several urgent items of the same size share the width that one alone would get: one after the
// other at that width if this gives the better mean completion, otherwise side by side, each at the
// width that is left for it.
struct UrgentShare {
  bool in_turn = true;
  Width width{};
};
UrgentShare share_urgent(const RuntimeModel& model, double work, const std::vector<Width>& menu,
                         const Width& of_one, int64_t items);

}  // namespace scheduler
