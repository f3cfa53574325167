#include "scheduler/policy/start_at_turn.h"

#include <algorithm>
#include <utility>

#include "scheduler/policy/item_widths.h"

namespace scheduler {
namespace {

int number_of(const SearchKind& kind, const Plan& plan) {
  const auto found = std::find_if(plan.fastest.begin(), plan.fastest.end(),
                                  [&](const FastestSearch& search) { return search.kind == kind; });
  return found == plan.fastest.end() ? -1 : static_cast<int>(found - plan.fastest.begin());
}

// nullopt: the plan has none.
std::optional<Width> expected_width(const Plan& plan, const PlanItem& item) {
  const bool chosen =
      plan.limits.classes.contains(item.priority) && !has_own_place(plan.limits, item);
  if (!chosen) return width_for(plan.limits, item.priority);
  const auto decision =
      std::lower_bound(plan.decisions.begin(), plan.decisions.end(), item.id,
                       [](const Decision& one, int64_t id) { return one.item_id < id; });
  const bool known = decision != plan.decisions.end() && decision->item_id == item.id &&
                     decision->priority == item.priority;
  if (!known || decision->width >= plan.limits.menu.size()) return std::nullopt;
  return plan.limits.menu[decision->width];
}

}  // namespace

StartAtTurn start_at_turn(const Plan& plan, TurnItem turn, std::optional<Width> width) {
  PlanItem& item = turn.item;
  const auto start = std::find_if(plan.starts.begin(), plan.starts.end(), [&](const JobStart& one) {
    return one.item_id == item.id && one.priority == item.priority;
  });
  if (start != plan.starts.end() && (!width || *width == start->width)) {
    return {.start = *start, .planned = true};
  }
  item.kind = number_of(turn.kind, plan);
  QueueSnapshot snapshot;
  snapshot.now = plan.made;
  snapshot.limits = plan.limits;
  snapshot.times = plan.times;
  snapshot.bounds = plan.bounds;
  snapshot.usual_job_seconds = plan.usual_job_seconds;
  if (plan.knows_gpus) snapshot.gpus = GpuForecast();
  const ItemWidths widths(snapshot, {});
  const std::optional<Width> known = width ? width : expected_width(plan, item);
  const ItemWidth given = widths.at(item, known.value_or(width_for(plan.limits, item.priority)));
  return {.start = {.item_id = item.id,
                    .priority = item.priority,
                    .width = given.width,
                    .segment = given.segment,
                    .limit = given.segment > 0 ? 0 : widths.limit_of(item, given),
                    .longest = bounds_of(plan.bounds, item).most_seconds},
          .planned = known.has_value()};
}

}  // namespace scheduler
