// Implements commands.h: changes of items.
#include <utility>

#include "db/attempts.h"
#include "db/items.h"
#include "scheduler/commands/commands.h"
#include "scheduler/commands/item_words.h"
#include "scheduler/commands/quotas.h"
#include "scheduler/commands/removal.h"
#include "scheduler/files/registered_file.h"
#include "scheduler/policy/policy.h"

namespace scheduler {
namespace {

using db::ItemState;

// How the micrograph changed since the item was enqueued.
std::string change_of_file(const db::Item& item, const FileFacts& facts) {
  if (facts.bytes != item.micrograph_bytes) {
    return "the micrograph changed from " + std::to_string(item.micrograph_bytes) + " to " +
           std::to_string(facts.bytes) + " bytes";
  }
  if (facts.mtime_ns != item.micrograph_mtime_ns) return "the micrograph was written again";
  if (!difference(micrograph_of(item), facts).empty()) return "the micrograph is another file";
  return "the size, time and inode of the file passed are the registered ones";
}

void take_micrograph(const FileFacts& facts, db::Item& item) {
  item.micrograph_bytes = facts.bytes;
  item.micrograph_mtime_ns = facts.mtime_ns;
  item.micrograph_id = facts.id;
  item.micrograph_sha256.clear();
  item.micrograph_ctime_ns = 0;
}

// The one that the caller passed, which must be at the place where the search will look for it.
const FileFacts& passed_micrograph(const RetryRequest& request, const db::Item& item) {
  if (!request.micrograph) {
    throw Invalid(
        "a retry needs the micrograph '" + item.micrograph_path + "' of item " +
        std::to_string(item.id) +
        " open for reading: pass `path` and `file`, or use this version's `margay retry`");
  }
  if (request.micrograph->path != item.micrograph_path) {
    throw Invalid("the micrograph of item " + std::to_string(item.id) + " is '" +
                  item.micrograph_path + "', and what was opened is '" + request.micrograph->path +
                  "': enqueue that file instead");
  }
  return *request.micrograph;
}

}  // namespace

void Commands::check_may_change(const Caller& caller, const db::Item& item) {
  if (item.owner_uid == caller.uid || caller.privileged) return;
  throw NotPermitted("item " + std::to_string(item.id) + " belongs to " + item.owner +
                     ": only its owner, root or the daemon's user may change it");
}

db::Item Commands::changeable(const Caller& caller, int64_t item_id) const {
  const auto item = db::ItemStore(database_).find(item_id);
  if (!item) throw no_item(database_, item_id);
  check_may_change(caller, *item);
  return *item;
}

// Within a transaction. Returns whether anything was changed.
bool Commands::change_one(const Caller& caller, const ItemAction& action, db::Item& item) {
  const std::optional<std::string> detail = action.change(item);
  if (!detail) return false;
  item.changed = clock_.now();
  db::ItemStore(database_).update(item);
  audit(caller, action.name, item.id, *detail);
  return true;
}

db::Item Commands::change(const Caller& caller, int64_t item_id, const ItemAction& action) {
  db::Transaction transaction(database_);
  db::Item item = changeable(caller, item_id);
  if (change_one(caller, action, item)) commit(transaction);
  return item;
}

std::vector<Enqueued> Commands::change(const Caller& caller, const std::vector<int64_t>& item_ids,
                                       const ItemAction& action, bool dry_run) {
  std::vector<Enqueued> answers(item_ids.size());
  db::Transaction transaction(database_);
  bool changed = false;
  for (size_t i = 0; i < item_ids.size(); ++i) {
    try {
      db::Item item = changeable(caller, item_ids[i]);
      if (change_one(caller, action, item)) changed = true;
      answers[i].item = std::move(item);
    } catch (const CommandError& error) {
      answers[i].refused = error;
    }
  }
  if (changed && !dry_run) commit(transaction);
  return answers;
}

ItemAction Commands::promotion(const Caller& caller, db::Priority priority) {
  const UrgentBy by = urgent_by(caller, priority);
  const Caller known = by == UrgentBy::kToken ? with_known_groups(caller) : caller;
  return {"promote", [this, caller = known, priority, by](db::Item& item) {
            const std::string why = has_ended(item.state)   ? " has ended"
                                    : item.cancel_requested ? " is being cancelled"
                                                            : "";
            if (!why.empty()) {
              throw Conflict(item_name(item) + why + ": its priority cannot be changed", item.id);
            }
            const bool becomes_urgent =
                priority <= db::Priority::kUrgent && item.priority != priority;
            const std::string paid = becomes_urgent ? pay_for_urgent(caller, by, item, true) : "";
            const db::Priority before = std::exchange(item.priority, priority);
            return to_string(before) + " -> " + to_string(priority) + paid;
          }};
}

ItemAction Commands::demotion(const Caller& caller, db::Priority priority) {
  ItemAction lower = promotion(caller, priority);
  return {"demote", [priority, change = std::move(lower.change)](db::Item& item) {
            if (priority < item.priority) {
              throw Conflict(item_name(item) + " has priority " + to_string(item.priority) +
                                 ", which " + to_string(priority) +
                                 " would raise: use promote for that",
                             item.id);
            }
            return change(item);
          }};
}

db::Item Commands::promote(const Caller& caller, int64_t item_id, db::Priority priority) {
  return change(caller, item_id, promotion(caller, priority));
}

db::Item Commands::finish_by(const Caller& caller, int64_t item_id, int64_t time) {
  return change(caller, item_id, deadline(time));
}

ItemAction Commands::deadline(int64_t time) {
  check_deadline(time);
  return {"finish-by", [time](db::Item& item) -> std::optional<std::string> {
            if (has_ended(item.state)) {
              throw Conflict(item_name(item) + " has ended: its deadline cannot be changed",
                             item.id);
            }
            if (item.finish_by == time) return std::nullopt;
            const int64_t before = std::exchange(item.finish_by, time);
            return deadline_text(before) + " -> " + deadline_text(time);
          }};
}

db::Item Commands::hold(const Caller& caller, int64_t item_id) {
  return change(caller, item_id, holding(caller));
}

ItemAction Commands::holding(const Caller& caller) {
  return {"hold", [caller](db::Item& item) -> std::optional<std::string> {
            if (item.state == ItemState::kHeld) return std::nullopt;
            if (item.state != ItemState::kQueued) {
              throw Conflict(item_name(item) + ": only a waiting item can be held", item.id);
            }
            item.state = ItemState::kHeld;
            item.reason = "held by " + caller.name;
            return "";
          }};
}

db::Item Commands::release(const Caller& caller, int64_t item_id) {
  return change(caller, item_id, releasing());
}

ItemAction Commands::releasing() {
  return {"release", [](db::Item& item) -> std::optional<std::string> {
            if (item.state == ItemState::kQueued) return std::nullopt;
            if (item.state != ItemState::kHeld) {
              throw Conflict(item_name(item) + ": only a held item can be released", item.id);
            }
            item.state = ItemState::kQueued;
            item.reason.clear();
            return "";
          }};
}

db::Item Commands::cancel(const Caller& caller, int64_t item_id) {
  return change(caller, item_id, cancellation(caller));
}

ItemAction Commands::cancellation(const Caller& caller) {
  return {"cancel", [caller](db::Item& item) -> std::optional<std::string> {
            switch (item.state) {
              case ItemState::kCancelled:
                return std::nullopt;
              case ItemState::kDone:
              case ItemState::kFailed:
              case ItemState::kQuarantined:
                throw Conflict(item_name(item) + " has ended: it cannot be cancelled", item.id);
              case ItemState::kQueued:
              case ItemState::kHeld:
                item.state = ItemState::kCancelled;
                item.reason = "cancelled by " + caller.name;
                break;
              case ItemState::kActive:
                if (item.cancel_requested) return std::nullopt;
                item.cancel_requested = true;
                item.reason =
                    "cancel requested by " + caller.name + ": waiting for its job to stop";
                break;
            }
            return "";
          }};
}

std::string Commands::change_options(const Caller& caller, const RetryRequest& request,
                                     db::Item& item) const {
  const ItemOptions kept = request.drop_options ? ItemOptions() : item.options;
  // Options that were allowed once are checked again only when others join them.
  const ItemOptions options =
      request.options.empty()
          ? kept
          : checked(caller, slurm::merge(kept, checked(caller, request.options)));
  const std::string change = change_of_options(item.options, options);
  item.options = options;
  return change;
}

// Returns what changed, for the reason. Refuses what must be urgent and may not be.
std::string Commands::change_class(const Caller& caller, const RetryRequest& request, UrgentBy by,
                                   db::Item& item) {
  const db::Priority before = item.priority;
  item.priority = request.priority.value_or(before);
  const bool changes = item.priority != before;
  std::string what;
  if (changes) what = "; " + to_string(before) + " -> " + to_string(item.priority);
  if (item.priority > db::Priority::kUrgent) return what;
  const std::string paid = pay_for_urgent(caller, by, item, changes);
  if (paid.empty()) return what;
  return (what.empty() ? "; urgent" : what) + paid;
}

db::Item Commands::retry(const Caller& caller, int64_t item_id, const RetryRequest& request) {
  return change(caller, item_id, retrying(caller, {{item_id, request}}));
}

ItemAction Commands::retrying(const Caller& caller, std::map<int64_t, RetryRequest> requests) {
  // Asked for here, since what priority they have is known only within the transaction.
  const UrgentBy by = urgent_by(caller, db::Priority::kUrgent);
  const Caller known = by == UrgentBy::kToken ? with_known_groups(caller) : caller;
  return {"retry", [this, caller = known, by, all = std::move(requests)](db::Item& item) {
            return retry_item(caller, all.at(item.id), by, item);
          }};
}

std::string Commands::retry_item(const Caller& caller, const RetryRequest& request, UrgentBy by,
                                 db::Item& item) {
  if (item.state != ItemState::kFailed && item.state != ItemState::kQuarantined &&
      item.state != ItemState::kCancelled) {
    throw Conflict(
        item_name(item) + ": only a failed, quarantined or cancelled item can be retried", item.id);
  }
  const FileFacts& facts = passed_micrograph(request, item);
  check_file(options_.quotas, facts);
  check_quota(caller, 1, item.label);
  std::string what = "was " + to_string(item.state);
  if (!item.reason.empty()) what += " (" + item.reason + ")";
  what += "; " + change_of_file(item, facts);
  const std::string options = change_options(caller, request, item);
  if (!options.empty()) what += "; Slurm options: " + options;
  what += change_class(caller, request, by, item);
  const auto newest = db::AttemptStore(database_).newest_of_item(item.id);
  item.exempt_through = newest ? newest->number : 0;
  take_micrograph(facts, item);
  item.state = ItemState::kQueued;
  item.cancel_requested = false;
  item.not_before = 0;
  item.reason = "requeued by " + caller.name + ": " + what;
  return what;
}

}  // namespace scheduler
