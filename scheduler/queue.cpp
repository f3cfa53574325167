#include "scheduler/queue.h"

#include "db/attempts.h"
#include "db/items.h"

namespace scheduler {

Snapshot read_queue(db::Database& database, int64_t now, int device_slots) {
  Snapshot snapshot;
  snapshot.now = now;
  snapshot.device_slots = device_slots;
  db::ItemQuery waiting_or_running;
  waiting_or_running.states = {db::ItemState::kQueued, db::ItemState::kHeld,
                               db::ItemState::kPlanned, db::ItemState::kActive};
  const std::scoped_lock lock(database.mutex());
  snapshot.busy_slots = static_cast<int>(db::AttemptStore(database).open().size());
  for (const db::Item& item : db::ItemStore(database).list(waiting_or_running)) {
    snapshot.items.push_back(
        {item.id, item.priority, item.state, item.cancel_requested, item.created, item.not_before});
  }
  return snapshot;
}

}  // namespace scheduler
