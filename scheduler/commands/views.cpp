// What users see of the queue: each item with its explanation.

#include <set>
#include <utility>

#include "db/attempts.h"
#include "db/results.h"
#include "db/templates.h"
#include "scheduler/commands/commands.h"
#include "scheduler/commands/job_state_text.h"
#include "scheduler/commands/pause_text.h"
#include "scheduler/commands/read_snapshot.h"

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

std::map<int64_t, Decision> Commands::decisions() const {
  QueueSnapshot snapshot = read_queue(database_, clock_.now(), limits_);
  snapshot.pause_reason = pause_text(database_);
  if (pause_reason_ && snapshot.pause_reason.empty()) snapshot.pause_reason = pause_reason_();
  if (held_lanes_) snapshot.held_lanes.merge(held_lanes_());
  if (hanging_files_) snapshot.hanging_files = hanging_files_();
  std::map<int64_t, Decision> decisions;
  for (Decision& decision : plan(snapshot)) {
    decisions.emplace(decision.item_id, std::move(decision));
  }
  std::set<int64_t> cancelled;
  for (const PlanItem& item : snapshot.items) {
    if (item.cancel_requested) cancelled.insert(item.id);
  }
  for (const db::Attempt& attempt : db::AttemptStore(database_).open()) {
    if (cancelled.count(attempt.item_id) != 0) continue;
    // What it got was decided when it started, whatever would be decided now.
    Decision& decision = decisions[attempt.item_id];
    if (!decision.width) decision.explanation = explain_open(attempt);
  }
  return decisions;
}

std::map<int64_t, std::string> Commands::explanations() const {
  std::map<int64_t, std::string> texts;
  for (const auto& [id, decision] : decisions()) texts[id] = decision.explanation;
  return texts;
}

ItemView Commands::show(int64_t item_id) const {
  const auto item = db::ItemStore(database_).find(item_id);
  if (!item) throw NotFound("no item " + std::to_string(item_id));
  ItemView view{.item = *item,
                .search_template = db::TemplateStore(database_).find(item->template_id).value(),
                .attempts = db::AttemptStore(database_).of_item(item_id),
                .result = db::ResultStore(database_).find(item_id),
                .explanation = item->reason};
  const auto all = decisions();
  const auto decision = all.find(item_id);
  if (decision != all.end()) view.explanation = decision->second.explanation;
  const bool spaced = item->state == ItemState::kQueued && item->not_before > clock_.now();
  if (spaced && !item->reason.empty()) view.explanation += ": " + item->reason;
  if (view.result) add_result(view);
  return view;
}

}  // namespace scheduler
