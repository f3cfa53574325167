// What each tick reads of all unfinished items and attempts. There may be thousands, so only the
// columns that the policy needs are read. Every method locks the database for one statement, so
// that any thread may call it, and throws DatabaseError.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/records.h"

namespace db {

struct QueuedItem {
  int64_t id = 0;
  Priority priority = Priority::kNormal;
  ItemState state = ItemState::kQueued;
  bool cancel_requested = false;
  int64_t created = 0;
  int64_t not_before = 0;
  int64_t finish_by = 0;
  double searched = 0;
  int64_t owner_uid = 0;
  int64_t template_id = 0;
  int64_t micrograph_ctime_ns = 0;
  int64_t micrograph_width = 0;  // pixels; 0: not known
  int64_t micrograph_height = 0;
  std::string options{};  // as stored; parse_options() in items.h reads them
  std::string group{};
};

struct OpenAttempt {
  int64_t item_id = 0;
  AttemptState state = AttemptState::kSubmitting;
  int number = 0;
  int64_t started = 0;
  int nodes = 1;
  int gpus_per_node = 0;
  bool stop_asked = false;
  bool release_due = false;
  bool by_floor = false;
  int64_t segment = 0;
  std::string cluster_reason{};
};

// One owner's items of one priority whose micrographs are still to be read.
struct UnreadGroup {
  Priority priority = Priority::kNormal;
  int64_t owner_uid = 0;
};

class QueueStore {
 public:
  explicit QueueStore(Database& database) : database_(database) {}
  // Calls `take` for each item that has not ended and can be read, by id. One at a time, since all
  // of them together would take much memory.
  void each_item(const std::function<void(const QueuedItem&)>& take) const;
  int64_t count_items() const;
  // Items with these ids, which must be in ascending order; ended and unreadable ones are left out.
  std::vector<QueuedItem> items(const std::vector<int64_t>& ids) const;
  // Every attempt that has not ended.
  std::vector<OpenAttempt> attempts() const;
  int64_t count_attempts() const;
  // Moves the times that items (retries) and jobs (stops) wait for by `seconds`, by which the wall
  // clock was set, so that each wait keeps its length.
  void shift_waits(int64_t seconds);
  // As shift_waits() where the clock's jump is not known: afterwards no wait has begun after `now`,
  // and none lasts longer than `longest` seconds.
  void limit_waits(int64_t now, int64_t longest);
  // The groups with at least one unread item whose retry is due at `now`.
  std::vector<UnreadGroup> unread(int64_t now) const;
  // Ids of the group's unread items that are due at `now`, in ascending order, at most `most`.
  std::vector<int64_t> unread_of(const UnreadGroup& group, int64_t now, int64_t most) const;
  // Ids of the ACTIVE items whose cancellation was requested.
  std::vector<int64_t> to_cancel() const;

 private:
  Database& database_;
};

}  // namespace db
