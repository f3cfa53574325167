// The queue as the policy looks at it, kept in memory between the ticks: with 100,000 waiting items
// it would take longer to read them all than to plan.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "db/database.h"
#include "db/queue.h"
#include "scheduler/policy/policy.h"

namespace scheduler {

// Not thread-safe.
class KnownQueue {
 public:
  // The database must outlive the object, and has no other such reader.
  explicit KnownQueue(db::Database& database) : database_(database) {}

  // All unfinished items, and the lanes of those that an administrator has paused; open attempts
  // count as busy slots. Reads only what has changed since the last call with the same limits.
  // `now` is in seconds since the epoch. What the queue does not say is as in a new snapshot; the
  // caller may set it. Valid until the next call. Throws DatabaseError.
  QueueSnapshot& read(int64_t now, const ClusterLimits& limits);

 private:
  using Asks = std::shared_ptr<const ItemAsks>;

  void read_items();
  void read_changed(std::vector<int64_t> ids);
  void read_attempts();
  void hold_paused_lanes();
  PlanItem item_of(const db::QueuedItem& row);
  int kind_of(const db::QueuedItem& row);
  int group_of(const db::QueuedItem& row);
  Asks asks_of_row(const db::QueuedItem& row);
  void forget_asks();

  db::Database& database_;
  QueueSnapshot snapshot_;
  bool is_known_ = false;  // the items are those that the last call found
  // What is asked for, by the text of the options and the class.
  std::map<std::pair<std::string, db::Priority>, Asks> asks_;
  // Their places in the snapshot's, by template, width and height.
  std::map<std::tuple<int64_t, int64_t, int64_t>, int> kinds_;
  std::map<std::string, int> groups_;  // their places in the snapshot's
};

}  // namespace scheduler
