// Removes ended items from the queue's records, for users' commands and for retention.
#pragma once

#include <cstdint>
#include <string>

#include "db/database.h"
#include "db/records.h"
#include "scheduler/errors.h"

namespace scheduler {

struct RemovedBy {
  int64_t time = 0;
  int64_t uid = 0;
  std::string who{};
  std::string why{};  // empty: a user asked for it
};

// The error "no item 12"; for a removed item with who removed it and where its results are.
NotFound no_item(db::Database& database, int64_t item_id);

// Moves the item, its attempts with their scripts and its result out of the records, and lets the
// daemon remove the folders of its attempts; a line stays in the history, whose detail is returned.
// Unless `results` is set, the files of its result stay where they are. Call it within a
// transaction. Throws Conflict for an item that has not ended, or whose job may still be in the
// cluster.
std::string remove_item(db::Database& database, const db::Item& item, bool results,
                        const RemovedBy& by);
// Removes the results that an earlier removal kept.
void remove_kept_results(db::Database& database, int64_t item_id, const RemovedBy& by);

}  // namespace scheduler
