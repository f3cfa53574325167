// The items that have ended, as retention looks at them, with what their removal would free. Sizes
// are kept in memory, since an item that has ended changes no more. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "db/database.h"
#include "scheduler/policy/retention.h"

namespace scheduler {

class EndedItems {
 public:
  // The database must outlive the object. With `results`, results are removed, too, and those that
  // earlier removals have kept are looked at as items.
  EndedItems(db::Database& database, std::string jobs, bool results)
      : database_(database), jobs_(std::move(jobs)), results_(results) {}

  // All of them, as they are now.
  void read();
  // Measures those of which it is not known how much they take. False: the time was up before.
  bool measure(const std::function<bool()>& time_is_up);
  // Of one of them. Throws std::system_error.
  int64_t bytes_of(int64_t item_id);
  const std::vector<EndedItem>& all() const { return items_; }

 private:
  struct Size {
    int64_t since = 0;  // of the item when it was measured
    int64_t bytes = 0;
  };

  db::Database& database_;
  const std::string jobs_;
  const bool results_;
  std::vector<EndedItem> items_{};
  size_t measured_ = 0;  // so many of them, from the first
  std::unordered_map<int64_t, Size> sizes_{};
};

}  // namespace scheduler
