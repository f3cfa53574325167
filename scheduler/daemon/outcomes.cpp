#include "scheduler/daemon/outcomes.h"

#include <unistd.h>

#include <algorithm>
#include <span>

#include "db/attempts.h"
#include "db/audit.h"
#include "db/host_failures.h"
#include "db/items.h"
#include "db/pauses.h"
#include "db/results.h"
#include "scheduler/daemon/evidence.h"
#include "scheduler/results/learn_rates.h"
#include "scheduler/states/host_exclusion.h"

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
  if (outcome.searched) item.searched = *outcome.searched;
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

// Logs an attempt's new state: as a warning where something went wrong.
void log_state(const DaemonContext& context, const db::Attempt& attempt, const Outcome& outcome) {
  const bool wrong =
      attempt.state == db::AttemptState::kUnknown || attempt.state == db::AttemptState::kRejected ||
      attempt.state == db::AttemptState::kFailed || attempt.state == db::AttemptState::kLost;
  (wrong ? context.warn : context.log)(line_of(attempt, outcome));
}

// A device that failed its probe may be the site's fault: its failures are kept as a row until a
// search passes its probe.
int64_t start_in_row(const db::Attempt& attempt) {
  return attempt.cause == "hardware" && !has_passed_probe(attempt) ? start_of(attempt) : 0;
}

void blame_host(const DaemonContext& context, const db::Attempt& attempt, const std::string& host,
                int64_t row_start) {
  if (host.empty()) return;
  db::HostFailureStore(context.database)
      .insert({.host = host,
               .item_id = attempt.item_id,
               .attempt_id = attempt.id,
               .cause = attempt.cause,
               .time = context.clock.now(),
               .row_start = row_start});
}

void exempt_row(const DaemonContext& context, const db::Attempt& attempt) {
  db::AttemptStore attempts(context.database);
  attempts.mark_exempt(attempt.id);
  for (const db::HostFailure& failure : db::HostFailureStore(context.database).in_row()) {
    attempts.mark_exempt(failure.attempt_id);
  }
}

std::string poison_text(const Suspect& suspect) {
  const int times = suspect.crashes + suspect.kills;
  const std::string work = suspect.work == Work::kLaunch ? "prepared this item's job"
                                                         : "looked at the files of this item's job";
  return "margayd ended abnormally " + std::to_string(times) + " times in a row while it " + work +
         ": the item is kept out of the queue; report the fault, and use `margay retry` once its "
         "cause is gone";
}

// The API waits while a transaction is open: thousands go in several.
constexpr size_t kAtOnce = 500;

}  // namespace

RetryRules retry_rules(const Config& config) {
  return {.first = config.intervals.retry, .longest = config.intervals.retry_longest};
}

void store_outcome(const DaemonContext& context, db::Attempt attempt, const Outcome& outcome,
                   CommitPoints points, const std::optional<db::Result>& result, bool quiet) {
  const int64_t now_ms = context.clock.now_ms();
  const bool changed = attempt.state != outcome.attempt;
  attempt.state = outcome.attempt;
  attempt.cause = outcome.cause;
  attempt.message = outcome.message;
  const bool blames = outcome.item && indicates_bad_host(attempt.cause);
  const std::string host = blames ? host_of(attempt) : "";
  const int64_t row_start = blames ? start_in_row(attempt) : 0;
  if (outcome.item && attempt.ended == 0) attempt.ended = now_ms / 1000;
  {
    db::Transaction transaction(context.database);
    if (!db::AttemptStore(context.database).update(attempt)) return;
    if (outcome.item) {
      db::ItemStore items(context.database);
      db::Item item = items.find(attempt.item_id).value();
      end_item(item, outcome, now_ms);
      items.update(item);
      blame_host(context, attempt, host, row_start);
      if (outcome.exempt) exempt_row(context, attempt);
    }
    if (result) {
      db::ResultStore(context.database).insert(*result);
      learn_rates(context.database, attempt, *result);
    }
    reach(context.crash, points.before);
    transaction.commit();
  }
  reach(context.crash, points.after);
  if (changed && !quiet) log_state(context, attempt, outcome);
}

void quarantine_poison(const DaemonContext& context, const Suspect& suspect) {
  db::ItemStore items(context.database);
  const auto item = items.find(suspect.item);
  if (!item) return;
  const std::string reason = poison_text(suspect);
  const auto attempt = db::AttemptStore(context.database).newest_of_item(suspect.item);
  if (item->state == db::ItemState::kActive && attempt && db::is_open(attempt->state)) {
    store_outcome(context, *attempt,
                  {.attempt = db::AttemptState::kFailed,
                   .cause = "daemon",
                   .message = reason,
                   .item = db::ItemState::kQuarantined,
                   .reason = reason},
                  {"before-outcome-commit", "after-outcome-commit"});
  } else if (item->state == db::ItemState::kQueued) {
    items.set_state(suspect.item, db::ItemState::kQuarantined, reason, context.clock.now());
    context.warn("item " + std::to_string(suspect.item) + ": " +
                 to_string(db::ItemState::kQuarantined) + ": " + reason);
  }
}

void pause_after_crashes(const DaemonContext& context, const Suspect& suspect) {
  const std::string work =
      suspect.work == Work::kLaunch ? "prepared jobs" : "looked at the files of jobs";
  const std::string reason = "margayd ended abnormally at one item after another while it " + work +
                             ", last at item " + std::to_string(suspect.item) +
                             "; report the fault, and do not resume before its cause is gone";
  context.warn("submissions paused: " + reason);
  db::Transaction transaction(context.database);
  db::PauseStore pauses(context.database);
  if (pauses.find()) return;
  const int64_t now = context.clock.now();
  pauses.set({.uid = getuid(), .who = "margayd", .reason = reason, .since = now});
  db::AuditStore(context.database)
      .insert(
          {.time = now, .uid = getuid(), .who = "margayd", .action = "pause", .detail = reason});
  transaction.commit();
}

void store_open(const DaemonContext& context, const std::vector<OpenChange>& changes) {
  for (size_t first = 0; first < changes.size(); first += kAtOnce) {
    const auto some = std::span(changes).subspan(first, std::min(kAtOnce, changes.size() - first));
    {
      db::Transaction transaction(context.database);
      db::AttemptStore attempts(context.database);
      for (const OpenChange& change : some) attempts.update(change.attempt);
      reach(context.crash, "before-states-commit");
      transaction.commit();
    }
    reach(context.crash, "after-states-commit");
    for (const OpenChange& change : some) {
      if (change.new_state) log_state(context, change.attempt, {});
    }
  }
}

}  // namespace scheduler
