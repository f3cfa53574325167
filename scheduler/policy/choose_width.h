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
#include "scheduler/policy/runtime_model.h"
#include "scheduler/policy/wait_forecast.h"

namespace scheduler {

struct ClassRules {
  double least_efficiency = 0.97;
  int cap_gpus = 1;           // of a job
  int deadline_cap_gpus = 1;  // of one whose deadline nothing narrower meets
  bool urgent = false;        // rule 3 instead of rule 2
};

struct WidthQuestion {
  double work = 0;  // seconds on one GPU
  RuntimeModel model{};
  ClassRules rules{};
  std::vector<Width> menu{};         // narrowest first; not empty
  ClusterForecast likely{};          // when GPUs are free as expected,
  ClusterForecast late{};            // and with 90 % certainty
  int usable_gpus = 0;               // for items of this class
  int64_t ready_items = 1;           // of this class and higher ones, this one included
  std::optional<double> deadline{};  // seconds from now
};

// What one width means. Seconds.
struct WidthForecast {
  Width width{};
  double wait = 0;
  double run = 0;
  double done_likely = 0;  // wait and run
  double done_late = 0;    // not passed with 90 % certainty; infinite: nothing is certain
  double efficiency = 0;
  bool admissible = false;
};

enum class WidthRule { kDeadline, kAtRisk, kBulk, kUrgent };

struct WidthChoice {
  Width width{};
  WidthRule rule = WidthRule::kBulk;
  double late_by = 0;                      // of kAtRisk: seconds beyond the deadline, or infinite
  std::vector<WidthForecast> forecasts{};  // of the widths that the cluster has room for
};

// What its width would mean.
const WidthForecast& chosen(const WidthChoice& choice);

// nullopt when the cluster has room for no width of the menu.
std::optional<WidthChoice> choose_width(const WidthQuestion& question);

// The widest of the menu with at most so many GPUs; the narrowest when none has as few.
Width widest_within(const std::vector<Width>& menu, double gpus);

// How several urgent items of the same size share the width that one of them would get: one after
// the other at that width when this gives the better mean completion, else side by side, each at
// the width that is left for it.
struct UrgentShare {
  bool in_turn = true;
  Width width{};
};
UrgentShare share_urgent(const RuntimeModel& model, double work, const std::vector<Width>& menu,
                         const Width& of_one, int64_t items);

}  // namespace scheduler
