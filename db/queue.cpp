#include "db/queue.h"

#include "db/attempts.h"
#include "db/table.h"

namespace db {
namespace {

const std::string kOpenAttempts = std::string("FROM attempts WHERE state IN ") + kOpenStates;

}  // namespace

std::vector<QueuedItem> QueueStore::items() const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(),
                  "SELECT id, priority, state, cancel_requested, created, not_before FROM items "
                  "WHERE state IN ('QUEUED', 'HELD', 'ACTIVE') ORDER BY id");
  std::vector<QueuedItem> items;
  while (query.step()) {
    const int64_t id = query.integer(0);
    items.push_back({.id = id,
                     .priority = known(parse_priority(query.text(1)), id),
                     .state = known(parse_item_state(query.text(2)), id),
                     .cancel_requested = query.integer(3) != 0,
                     .created = query.integer(4),
                     .not_before = query.integer(5)});
  }
  return items;
}

std::vector<OpenAttempt> QueueStore::attempts() const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(),
                  "SELECT item_id, state, shape, gpus, stop_asked " + kOpenAttempts);
  std::vector<OpenAttempt> attempts;
  while (query.step()) {
    const int64_t item_id = query.integer(0);
    attempts.push_back({.item_id = item_id,
                        .state = known(parse_attempt_state(query.text(1)), item_id),
                        .shape = query.text(2),
                        .gpus = static_cast<int>(query.integer(3)),
                        .stop_asked = query.integer(4) != 0});
  }
  return attempts;
}

int64_t QueueStore::count_attempts() const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(), "SELECT count(*) " + kOpenAttempts);
  query.step();
  return query.integer(0);
}

std::vector<int64_t> QueueStore::to_cancel() const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(),
                  "SELECT id FROM items WHERE state = 'ACTIVE' AND cancel_requested != 0");
  std::vector<int64_t> ids;
  while (query.step()) ids.push_back(query.integer(0));
  return ids;
}

}  // namespace db
