// Taking an ended item out of the queue's records: for users' commands and for retention.
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
  std::string why{};  // empty: whoever it was wanted it
};

// "no item 12", and if it was removed, by whom and where its results are.
NotFound no_item(db::Database& database, int64_t item_id);

// Within a transaction: the item, its attempts with their scripts and its result leave the records,
// a line stays in the history, and the folders of its attempts are to be removed by the daemon.
// Unless `results` is set, the files of its result stay where they are. Returns the line's detail.
// Throws Conflict for an item that has not ended, or whose job may still be in the cluster.
std::string remove_item(db::Database& database, const db::Item& item, bool results,
                        const RemovedBy& by);
// The same for the results that an earlier removal kept.
void remove_kept_results(db::Database& database, int64_t item_id, const RemovedBy& by);

}  // namespace scheduler
