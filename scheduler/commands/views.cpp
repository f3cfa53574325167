// What users see of the queue: each item with its explanation.

#include "db/attempts.h"
#include "db/results.h"
#include "db/templates.h"
#include "scheduler/commands/commands.h"
#include "scheduler/commands/job_state_text.h"
#include "scheduler/commands/removal.h"

namespace scheduler {
namespace {

using db::ItemState;

// What it was searched with belongs to it: without it, the reason of a finished item says nothing.
void add_result(ItemView& view) {
  for (const db::Attempt& attempt : view.attempts) {
    if (attempt.id != view.result->attempt_id) continue;
    if (!view.explanation.empty()) view.explanation += "; ";
    view.explanation += explain_done(*view.result, attempt);
  }
}

}  // namespace

LastPlan Commands::last_plan() const { return options_.plan ? options_.plan() : nullptr; }

PlanView Commands::plan_view() const { return view_of(database_, last_plan().get()); }

std::vector<std::string> Commands::explain(const std::vector<db::Item>& items) const {
  const LastPlan plan = last_plan();
  const db::AttemptStore attempts(database_);
  std::vector<std::string> sentences;
  for (const db::Item& item : items) {
    const auto attempt =
        item.state == ItemState::kActive ? attempts.open_of_item(item.id) : std::nullopt;
    sentences.push_back(
        explain_item(item, attempt ? &*attempt : nullptr, plan.get(), clock_.now()));
  }
  return sentences;
}

void Commands::check_may_read(const Caller& caller, int64_t item_id) const {
  if (!options_.only_owners_read || caller.privileged) return;
  const auto item = db::ItemStore(database_).find(item_id);
  if (!item || item->owner_uid == caller.uid) return;
  throw NotPermitted("the results, logs and scripts of item " + std::to_string(item_id) +
                     " are for its owner, " + item->owner +
                     ", alone: this site has 'results.readers: owner'");
}

std::vector<std::optional<int64_t>> Commands::late(const std::vector<db::Item>& items) const {
  const LastPlan plan = last_plan();
  std::vector<std::optional<int64_t>> seconds;
  for (const db::Item& item : items) {
    seconds.push_back(late_by(item, plan.get(), clock_.now()));
  }
  return seconds;
}

std::vector<std::optional<ExpectedTimes>> Commands::expected(
    const std::vector<db::Item>& items) const {
  const LastPlan plan = last_plan();
  std::vector<std::optional<ExpectedTimes>> times;
  for (const db::Item& item : items) times.push_back(expected_times(item, plan.get()));
  return times;
}

Commands::Forecast Commands::forecast(int64_t item_id) const {
  const auto item = db::ItemStore(database_).find(item_id);
  if (!item) throw NotFound("no item " + std::to_string(item_id));
  const auto attempt = db::AttemptStore(database_).open_of_item(item_id);
  const LastPlan plan = last_plan();
  return {.plan = plan, .item = forecast_of(*item, attempt ? &*attempt : nullptr, plan.get())};
}

ItemView Commands::show(int64_t item_id) const {
  const auto item = db::ItemStore(database_).find(item_id);
  if (!item) throw no_item(database_, item_id);
  ItemView view{.item = *item,
                .search_template = db::TemplateStore(database_).find(item->template_id).value(),
                .attempts = db::AttemptStore(database_).of_item(item_id),
                .result = db::ResultStore(database_).find(item_id),
                .explanation = explain({*item}).front(),
                .late_by = late({*item}).front(),
                .expected = expected({*item}).front()};
  const bool spaced = item->state == ItemState::kQueued && item->not_before > clock_.now();
  if (spaced && !item->reason.empty()) view.explanation += ": " + item->reason;
  if (view.result) add_result(view);
  return view;
}

}  // namespace scheduler
