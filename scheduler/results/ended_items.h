// The items that have ended, for retention, with the bytes that their removal would free. Sizes are
// kept in memory, since an ended item no longer changes. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "db/database.h"
#include "scheduler/states/retention.h"

namespace scheduler {

class EndedItems {
 public:
  // The database must outlive the object. With `results`, results are removed, too, and results
  // that earlier removals kept count as items.
  EndedItems(db::Database& database, std::string jobs, bool results)
      : database_(database), jobs_(std::move(jobs)), results_(results) {}

  // Reads the ended items from the database.
  void read();
  // Measures the items whose sizes are not known. Returns false when time ran out first.
  bool measure(const std::function<bool()>& time_is_up);
  // Bytes that the removal of an ended item would free. Throws std::system_error.
  int64_t bytes_of(int64_t item_id);
  const std::vector<EndedItem>& all() const { return items_; }

 private:
  struct Size {
    int64_t since = 0;  // the item's `since` when it was measured
    int64_t bytes = 0;
  };

  db::Database& database_;
  const std::string jobs_;
  const bool results_;
  std::vector<EndedItem> items_{};
  size_t measured_ = 0;  // how many of items_ are measured, from the first
  std::unordered_map<int64_t, Size> sizes_{};
};

}  // namespace scheduler
