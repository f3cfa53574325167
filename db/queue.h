// What every tick reads of all unfinished items and attempts: with thousands of them, no more
// columns than the policy needs. Every method locks the database for one statement, so that any
// thread may call it, and throws DatabaseError.
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
  std::string options{};  // as stored: parse_options() of items.h
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

// An owner's items of one class whose micrographs are to be read.
struct UnreadGroup {
  Priority priority = Priority::kNormal;
  int64_t owner_uid = 0;
};

class QueueStore {
 public:
  explicit QueueStore(Database& database) : database_(database) {}
  // Every item that has not ended and can be read, by id, to be taken one by one: together they
  // take much memory.
  void each_item(const std::function<void(const QueuedItem&)>& take) const;
  int64_t count_items() const;
  // Those with these ids, which are in ascending order.
  std::vector<QueuedItem> items(const std::vector<int64_t>& ids) const;
  // Every attempt that has not ended.
  std::vector<OpenAttempt> attempts() const;
  int64_t count_attempts() const;
  // The wall clock was set by so many seconds, and what is waited for is to keep its length: the
  // retries of items and the stops of jobs.
  void shift_waits(int64_t seconds);
  // The same where it is not known by how much: no wait began after `now`, or lasts longer than
  // `longest` seconds.
  void limit_waits(int64_t now, int64_t longest);
  // Those with an item that does not wait for a later time than `now`.
  std::vector<UnreadGroup> unread(int64_t now) const;
  // Their items, by id, at most so many.
  std::vector<int64_t> unread_of(const UnreadGroup& group, int64_t now, int64_t most) const;
  // ACTIVE items whose cancellation was requested.
  std::vector<int64_t> to_cancel() const;

 private:
  Database& database_;
};

}  // namespace db
