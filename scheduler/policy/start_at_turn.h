// What the job of a waiting item gets, according to a published plan: the plan's start for it, or
// the width that the plan expects for it at its turn, with the times that the policy would give a
// job of that width. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "db/records.h"
#include "scheduler/config/width.h"
#include "scheduler/policy/plan.h"

namespace scheduler {

// Facts about an item that a plan does not contain: id, class, asks and `left` of PlanItem, and the
// kind of its search.
struct TurnItem {
  PlanItem item{};
  SearchKind kind{};  // not known if the image's width is 0
};

struct StartAtTurn {
  JobStart start{};      // has item, class, width, floor_over, segment, limit and longest
  bool planned = false;  // the plan has a width for it, or only this one is possible
};

// The start of its job, with `width` if that is given. An item that waits for something other than
// its turn, or while nothing may be submitted, has no width in the plan and gets the site's.
StartAtTurn start_at_turn(const Plan& plan, TurnItem turn,
                          std::optional<Width> width = std::nullopt);

}  // namespace scheduler
