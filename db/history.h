// The items that have arrived, and the jobs that searched them: what a simulation is made from.
// Every method locks the database for one statement, so that any thread may call it, and throws
// DatabaseError.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/records.h"

namespace db {

struct ArrivedItem {
  int64_t id = 0;
  Priority priority = Priority::kNormal;
  ItemState state = ItemState::kQueued;
  int64_t created = 0;
  int64_t finish_by = 0;
  int64_t template_id = 0;
  int64_t micrograph_width = 0;  // pixels; 0: not known
  int64_t micrograph_height = 0;
  std::string group{};
};

// An attempt that is done, or was stopped with a checkpoint.
struct SearchJob {
  int64_t item_id = 0;
  int64_t started = 0;  // 0: not known
  int64_t ended = 0;
  int nodes = 1;
  int gpus_per_node = 0;  // 0: processors alone
};

class HistoryStore {
 public:
  explicit HistoryStore(Database& database) : database_(database) {}
  // At most `most` items with an id above `after` that arrived at `since` or later, by id.
  std::vector<ArrivedItem> arrived(int64_t since, int64_t after, int64_t most) const;
  // The jobs of the items from `first_item` to `last_item`, ordered by item.
  std::vector<SearchJob> jobs(int64_t first_item, int64_t last_item) const;

 private:
  Database& database_;
};

}  // namespace db
