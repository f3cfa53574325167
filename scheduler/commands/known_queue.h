// The queue as the policy needs it, kept in memory between ticks: with 100,000 waiting items,
// reading them all would take longer than planning. Not thread-safe.
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
  // The database must outlive the object and have no other reader of
  // Database::take_changed_items().
  explicit KnownQueue(db::Database& database) : database_(database) {}

  // Returns all unfinished items, and the lanes among them that an administrator has paused; open
  // attempts count as busy slots. Reads only what has changed since the last call with the same
  // limits. `now` is in seconds since the epoch. Other fields are as in a new snapshot, and the
  // caller may set them. Valid until the next call. Throws DatabaseError.
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
  bool is_known_ = false;  // the last call's items are in the snapshot
  // What items ask for, by the text of their options and their class.
  std::map<std::pair<std::string, db::Priority>, Asks> asks_;
  // Positions in the snapshot's kinds, by template, width and height.
  std::map<std::tuple<int64_t, int64_t, int64_t>, int> kinds_;
  std::map<std::string, int> groups_;  // positions in the snapshot's groups
};

}  // namespace scheduler
