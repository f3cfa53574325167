// How wide the jobs of each class may be at a site: from the configuration's `shape`,
// `urgent_shape` and `policy.classes`, else the documented defaults (docs/policy.md). Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "db/records.h"
#include "scheduler/config/config.h"
#include "scheduler/config/width.h"

namespace scheduler {

struct ClassWidths {
  Width least{};         // no job is narrower
  Width cap{};           // no job is wider,
  Width deadline_cap{};  // unless only this meets its deadline
  double least_efficiency = 0.97;
};

// The widths of each class. Empty where there is nothing to choose: with fixed widths, searches on
// processors, and the local cluster.
std::map<db::Priority, ClassWidths> class_widths_of(const Config& config);

// How wide the jobs of each class may be, as a text for the administrator's log. Empty where
// class_widths_of() is.
std::string widths_text(const Config& config);

// The share of the GPUs, 0 to 1, that a class gets even while more urgent items wait; only classes
// with a share above 0. Empty where class_widths_of() is.
std::map<db::Priority, double> floors_of(const Config& config);

// The widths that jobs may get and those that the configuration names, narrowest first.
std::vector<Width> menu_of(const Config& config);

}  // namespace scheduler
