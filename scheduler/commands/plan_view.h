// What users see of the daemon's last plan: what it has yet to submit and to stop, and which items
// are next.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/database.h"
#include "scheduler/commands/published_plan.h"

namespace scheduler {

struct PlannedItem {
  int64_t item_id = 0;
  db::Priority priority = db::Priority::kNormal;
  Width width{};
  std::string gets{};         // the width in words
  std::string explanation{};  // one sentence
};

struct PlanView {
  int64_t made = 0;      // seconds since the epoch; 0: there is no plan yet
  std::string paused{};  // why nothing is submitted; empty when something may be
  std::vector<PlannedItem> starts{};
  std::vector<PlannedItem> stops{};  // jobs stopped with a checkpoint, to resume with this width
  std::vector<PlannedItem> next{};   // the first items that wait for their turn, without a width
  int64_t waiting = 0;               // items that wait, for any reason
};

// Leaves out what has been done since the plan was made. `plan` is null before the first.
PlanView view_of(db::Database& database, const PublishedPlan* plan);

}  // namespace scheduler
