// Implements commands.h: items that are removed.
#include "db/items.h"
#include "db/removed.h"
#include "scheduler/commands/commands.h"
#include "scheduler/commands/removal.h"

namespace scheduler {
namespace {

// What is still known of an item that was removed, for the answer.
db::Item item_of(const db::RemovedItem& removed) {
  return {.id = removed.id,
          .micrograph_path = removed.micrograph_path,
          .template_id = removed.template_id,
          .repeat = removed.repeat,
          .priority = removed.priority,
          .state = removed.state,
          .owner_uid = removed.owner_uid,
          .owner = removed.owner};
}

}  // namespace

// Within a transaction.
db::Item Commands::remove_one(const Caller& caller, int64_t item_id, bool results) {
  const RemovedBy by{.time = clock_.now(), .uid = caller.uid, .who = caller.name};
  const auto earlier = db::RemovedItemStore(database_).find(item_id);
  if (earlier && results && !earlier->results.empty()) {
    const db::Item item = item_of(*earlier);
    check_may_change(caller, item);
    remove_kept_results(database_, item_id, by);
    return item;
  }
  db::Item item = changeable(caller, item_id);
  remove_item(database_, item, results, by);
  return item;
}

std::vector<Enqueued> Commands::remove(const Caller& caller, const std::vector<int64_t>& item_ids,
                                       bool results, bool dry_run) {
  std::vector<Enqueued> answers(item_ids.size());
  db::Transaction transaction(database_);
  bool changed = false;
  for (size_t i = 0; i < item_ids.size(); ++i) {
    try {
      answers[i].item = remove_one(caller, item_ids[i], results);
      changed = true;
    } catch (const CommandError& error) {
      answers[i].refused = error;
    }
  }
  if (changed && !dry_run) commit(transaction);
  return answers;
}

}  // namespace scheduler
