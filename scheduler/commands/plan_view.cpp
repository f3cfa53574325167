#include "scheduler/commands/plan_view.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "db/attempts.h"
#include "db/items.h"
#include "scheduler/policy/plan_text.h"

namespace scheduler {
namespace {

constexpr size_t kMostNext = 10;

std::vector<PlannedItem> starts_of(db::Database& database, const Plan& plan) {
  std::vector<PlannedItem> starts;
  for (const JobStart& start : plan.starts) {
    const auto item = db::ItemStore(database).find(start.item_id);
    if (!item || item->state != db::ItemState::kQueued || item->cancel_requested) continue;
    starts.push_back({.item_id = start.item_id,
                      .priority = start.priority,
                      .width = start.width,
                      .gets = text_of(plan.limits, start.width),
                      .explanation = start.explanation});
  }
  return starts;
}

std::vector<PlannedItem> stops_of(db::Database& database, const PublishedPlan& plan) {
  std::vector<PlannedItem> stops;
  for (const Widening& widening : plan.plan.widenings) {
    const auto attempt = db::AttemptStore(database).newest_of_item(widening.item_id);
    if (!attempt || attempt->stop_asked > 0 || !db::is_open(attempt->state)) continue;
    PlannedItem stop{.item_id = widening.item_id,
                     .width = widening.width,
                     .gets = text_of(plan.plan.limits, widening.width)};
    if (const Decision* decision = plan.find(widening.item_id)) {
      stop.priority = decision->priority;
      stop.explanation = sentence(plan.plan, *decision);
    }
    stops.push_back(std::move(stop));
  }
  return stops;
}

bool waits_for_its_turn(const Plan& plan, const Decision& decision) {
  return decision.verdict == Verdict::kWait && plan.reasons.at(decision.reason).why == Why::kQueue;
}

// In the order in which they get their turn.
std::vector<PlannedItem> next_of(const Plan& plan) {
  std::vector<const Decision*> waiting;
  for (const Decision& decision : plan.decisions) {
    if (waits_for_its_turn(plan, decision)) waiting.push_back(&decision);
  }
  const size_t shown = std::min(kMostNext, waiting.size());
  std::partial_sort(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(shown),
                    waiting.end(), [](const Decision* a, const Decision* b) {
                      return std::tuple(a->priority, a->count, a->item_id) <
                             std::tuple(b->priority, b->count, b->item_id);
                    });
  std::vector<PlannedItem> next;
  for (size_t i = 0; i < shown; ++i) {
    next.push_back({.item_id = waiting[i]->item_id,
                    .priority = waiting[i]->priority,
                    .explanation = sentence(plan, *waiting[i])});
  }
  return next;
}

}  // namespace

PlanView view_of(db::Database& database, const PublishedPlan* plan) {
  if (plan == nullptr) return {};
  const auto waiting =
      std::count_if(plan->plan.decisions.begin(), plan->plan.decisions.end(),
                    [](const Decision& one) { return one.verdict == Verdict::kWait; });
  return {.made = plan->plan.made,
          .paused = plan->plan.pause_reason,
          .starts = starts_of(database, plan->plan),
          .stops = stops_of(database, *plan),
          .next = next_of(plan->plan),
          .waiting = waiting};
}

}  // namespace scheduler
