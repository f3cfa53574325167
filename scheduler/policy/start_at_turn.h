// What the job of a waiting item is given, from a published plan: the start that the plan has
// for it, or the width that the plan expects for it when it has its turn, with the times that the
// policy would give a job of that width. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "db/records.h"
#include "scheduler/config/width.h"
#include "scheduler/policy/plan.h"

namespace scheduler {

// What a plan does not keep of an item: its id, class, asks and `left` of PlanItem, and the kind of
// its search.
struct TurnItem {
  PlanItem item{};
  SearchKind kind{};  // an image of width 0: not known
};

struct StartAtTurn {
  JobStart start{};      // item, class, width, floor_over, segment, limit and longest
  bool planned = false;  // the plan has a width for it, or it can have only this one
};

// Of a job of `width`, if that is given. An item that waits for something other than its turn, or
// while nothing may be submitted, has no width in the plan: it is given the site's.
StartAtTurn start_at_turn(const Plan& plan, TurnItem turn,
                          std::optional<Width> width = std::nullopt);

}  // namespace scheduler
