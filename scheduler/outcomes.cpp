#include "scheduler/outcomes.h"

#include "db/attempts.h"
#include "db/items.h"
#include "db/results.h"

namespace scheduler {
namespace {

// The item as it is in the transaction: the user may have changed it since the evidence was taken.
void end_item(db::Item& item, const Outcome& outcome, int64_t now_ms) {
  item.state = *outcome.item;
  item.reason = outcome.reason;
  item.not_before = outcome.wait.count() > 0 ? (now_ms + outcome.wait.count()) / 1000 : 0;
  if (item.cancel_requested && item.state == db::ItemState::kQueued) {
    item.state = db::ItemState::kCancelled;
    item.reason = "cancelled on request";
  }
  item.cancel_requested = false;
  item.changed = now_ms / 1000;
}

std::string line_of(const db::Attempt& attempt, const Outcome& outcome) {
  std::string line = attempt.token + ": " + to_string(attempt.state);
  if (!outcome.cause.empty()) line += " (" + outcome.cause + ")";
  if (!outcome.message.empty()) line += ": " + outcome.message;
  if (outcome.item) line += "; item " + to_string(*outcome.item);
  return line;
}

}  // namespace

Failures failures_of(const std::vector<db::Attempt>& attempts, int forgiven) {
  Failures failures;
  for (const db::Attempt& attempt : attempts) {
    if (attempt.number <= forgiven || attempt.cause.empty() || db::is_open(attempt.state)) continue;
    ++failures[attempt.cause];
  }
  return failures;
}

RetryRules retry_rules(const Config& config) {
  return {.first = config.intervals.retry, .longest = config.intervals.retry_longest};
}

void store_outcome(const Workplace& workplace, db::Attempt attempt, const Outcome& outcome,
                   const std::optional<db::Result>& result, const char* before, const char* after) {
  const int64_t now_ms = workplace.clock.now_ms();
  const bool changed = attempt.state != outcome.attempt;
  attempt.state = outcome.attempt;
  attempt.cause = outcome.cause;
  attempt.message = outcome.message;
  if (outcome.item && attempt.ended == 0) attempt.ended = now_ms / 1000;
  {
    db::Transaction transaction(workplace.database);
    if (!db::AttemptStore(workplace.database).update(attempt)) return;
    if (outcome.item) {
      db::ItemStore items(workplace.database);
      db::Item item = items.find(attempt.item_id).value();
      end_item(item, outcome, now_ms);
      items.update(item);
    }
    if (result) db::ResultStore(workplace.database).insert(*result);
    reach(workplace.crash, before);
    transaction.commit();
  }
  reach(workplace.crash, after);
  if (changed) workplace.log(line_of(attempt, outcome));
}

}  // namespace scheduler
