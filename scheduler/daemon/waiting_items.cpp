#include "scheduler/daemon/waiting_items.h"

#include <algorithm>

#include "db/items.h"
#include "scheduler/files/registered_file.h"

namespace scheduler {
namespace {

bool waits(const db::Item& item) {
  return item.state == db::ItemState::kQueued || item.state == db::ItemState::kHeld;
}

}  // namespace

StillSo still_unread(const db::Item& read) {
  return [registered = micrograph_of(read)](const db::Item& item) {
    return item.micrograph_ctime_ns == 0 && difference(registered, micrograph_of(item)).empty();
  };
}

void end_waiting(const DaemonContext& context, int64_t item_id, db::ItemState state,
                 const std::string& reason, const StillSo& still_so) {
  db::Transaction transaction(context.database);
  db::ItemStore items(context.database);
  const auto item = items.find(item_id);
  if (!item || !waits(*item) || (still_so && !still_so(*item))) return;
  items.set_state(item_id, state, reason, context.clock.now());
  transaction.commit();
  context.warn("item " + std::to_string(item_id) + ": " + to_string(state) + ": " + reason);
}

void postpone_waiting(const DaemonContext& context, int64_t item_id, const std::string& why,
                      const StillSo& still_so) {
  db::Transaction transaction(context.database);
  db::ItemStore items(context.database);
  const auto found = items.find(item_id);
  if (!found || !waits(*found) || (still_so && !still_so(*found))) return;
  db::Item item = *found;
  const std::string reason = why + "; will be retried";
  const int64_t last_ms = item.reason == reason ? (item.not_before - item.changed) * 1000 : 0;
  const Intervals& intervals = context.config.intervals;
  const int64_t wait_ms =
      std::clamp(2 * last_ms, int64_t{intervals.retry.count()},
                 std::max<int64_t>(intervals.retry.count(), intervals.retry_longest.count()));
  const int64_t now_ms = context.clock.now_ms();
  item.not_before = (now_ms + wait_ms) / 1000 + 1;
  if (item.state == db::ItemState::kQueued) item.reason = reason;
  item.changed = now_ms / 1000;
  items.update(item);
  transaction.commit();
}

void read_again(const DaemonContext& context, int64_t item_id) {
  db::Transaction transaction(context.database);
  db::ItemStore items(context.database);
  auto item = items.find(item_id);
  if (!item || !waits(*item)) return;
  item->micrograph_ctime_ns = 0;
  items.update(*item);
  transaction.commit();
}

}  // namespace scheduler
