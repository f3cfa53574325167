// How wide the jobs of each class may be at a site: its configuration's `shape`, `urgent_shape` and
// `policy.classes`, over the documented defaults (docs/policy.md). Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "db/records.h"
#include "scheduler/config/config.h"
#include "scheduler/config/width.h"

namespace scheduler {

struct ClassWidths {
  Width least{};         // no job is narrower,
  Width cap{};           // or wider,
  Width deadline_cap{};  // unless only this meets its deadline
  double least_efficiency = 0.97;
};

// Empty where widths are fixed, where searches run on processors, and on the local cluster: there
// is nothing to choose.
std::map<db::Priority, ClassWidths> class_widths_of(const Config& config);

// What the configuration means for the administrator's log: how wide the jobs of each class may be.
// Empty where class_widths_of() is.
std::string widths_text(const Config& config);

// The share of the GPUs that a class gets whatever waits above it; without those that have none.
// Empty where class_widths_of() is.
std::map<db::Priority, double> floors_of(const Config& config);

// Narrowest first: what a job of any class may get, and what the configuration names.
std::vector<Width> menu_of(const Config& config);

}  // namespace scheduler
