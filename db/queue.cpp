#include "db/queue.h"

#include "db/attempts.h"
#include "db/table.h"

namespace db {
namespace {

const Table<QueuedItem> kQueuedItems("items",
                                     {{"id", &QueuedItem::id},
                                      {"priority", &QueuedItem::priority},
                                      {"state", &QueuedItem::state},
                                      {"cancel_requested", &QueuedItem::cancel_requested},
                                      {"created", &QueuedItem::created},
                                      {"not_before", &QueuedItem::not_before},
                                      {"finish_by", &QueuedItem::finish_by},
                                      {"searched", &QueuedItem::searched},
                                      {"owner_uid", &QueuedItem::owner_uid},
                                      {"template_id", &QueuedItem::template_id},
                                      {"micrograph_ctime_ns", &QueuedItem::micrograph_ctime_ns},
                                      {"micrograph_width", &QueuedItem::micrograph_width},
                                      {"micrograph_height", &QueuedItem::micrograph_height},
                                      {"options", &QueuedItem::options},
                                      {"group_name", &QueuedItem::group}});

const Table<UnreadGroup> kUnread("items INDEXED BY items_unread",
                                 {{"priority", &UnreadGroup::priority},
                                  {"owner_uid", &UnreadGroup::owner_uid}});

// In the words of the index items_unread, which SQLite uses for nothing else.
constexpr const char* kIsUnread =
    "micrograph_ctime_ns = 0 AND state IN ('QUEUED', 'HELD') AND not_before <= ?";

const Table<OpenAttempt> kOpenAttempts("attempts",
                                       {{"item_id", &OpenAttempt::item_id},
                                        {"state", &OpenAttempt::state},
                                        {"number", &OpenAttempt::number},
                                        {"started", &OpenAttempt::started},
                                        {"nodes", &OpenAttempt::nodes},
                                        {"gpus_per_node", &OpenAttempt::gpus_per_node},
                                        {"stop_asked", &OpenAttempt::stop_asked},
                                        {"release_due", &OpenAttempt::release_due},
                                        {"by_floor", &OpenAttempt::by_floor},
                                        {"segment", &OpenAttempt::segment},
                                        {"cluster_reason", &OpenAttempt::cluster_reason}});

}  // namespace

void QueueStore::each_item(const std::function<void(const QueuedItem&)>& take) const {
  kQueuedItems.each(
      database_, kQueuedItems.readable() + "AND state IN ('QUEUED', 'HELD', 'ACTIVE') ORDER BY id",
      take);
}

int64_t QueueStore::count_items() const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(),
                  "SELECT count(*) FROM items WHERE state IN ('QUEUED', 'HELD', 'ACTIVE')");
  query.step();
  return query.integer(0);
}

// One statement for each run of ids: files are enqueued many at once.
std::vector<QueuedItem> QueueStore::items(const std::vector<int64_t>& ids) const {
  std::vector<QueuedItem> found;
  for (size_t begin = 0; begin < ids.size();) {
    size_t end = begin + 1;
    while (end < ids.size() && ids[end] == ids[end - 1] + 1) ++end;
    for (QueuedItem& item :
         kQueuedItems.all(database_,
                          kQueuedItems.readable() + "AND +state IN ('QUEUED', 'HELD', 'ACTIVE') "
                                                    "AND id BETWEEN ? AND ? ORDER BY id",
                          ids[begin], ids[end - 1])) {
      found.push_back(std::move(item));
    }
    begin = end;
  }
  return found;
}

std::vector<OpenAttempt> QueueStore::attempts() const {
  return kOpenAttempts.all(database_, std::string("WHERE state IN ") + kOpenStates);
}

int64_t QueueStore::count_attempts() const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(),
                  std::string("SELECT count(*) FROM attempts WHERE state IN ") + kOpenStates);
  query.step();
  return query.integer(0);
}

void QueueStore::shift_waits(int64_t seconds) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(),
            "UPDATE items SET not_before = not_before + ?1, changed = changed + ?1 "
            "WHERE state IN ('QUEUED', 'HELD') AND not_before > 0")
      .bind(seconds)
      .run();
  Statement(database_.connection(), std::string("UPDATE attempts SET stop_asked = stop_asked + ? "
                                                "WHERE stop_asked > 0 AND state IN ") +
                                        kOpenStates)
      .bind(seconds)
      .run();
}

void QueueStore::limit_waits(int64_t now, int64_t longest) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(),
            "UPDATE items SET changed = ?1, "
            "not_before = ?1 + min(max(not_before - changed, 0), ?2) "
            "WHERE state IN ('QUEUED', 'HELD') AND not_before > ?1 "
            "AND (changed > ?1 OR not_before > ?1 + ?2)")
      .bind(now)
      .bind(longest)
      .run();
  Statement(database_.connection(),
            std::string("UPDATE attempts SET stop_asked = ?1 WHERE stop_asked > ?1 AND state IN ") +
                kOpenStates)
      .bind(now)
      .run();
}

// From group to group: there may be many items in each.
std::vector<UnreadGroup> QueueStore::unread(int64_t now) const {
  const std::scoped_lock lock(database_.mutex());
  std::vector<UnreadGroup> groups;
  std::string priority;
  for (int64_t owner = -1;;) {
    const auto next = kUnread.one(database_,
                                  kUnread.readable() + "AND " + kIsUnread +
                                      " AND (priority, owner_uid) > (?, ?) "
                                      "ORDER BY priority, owner_uid",
                                  now, priority, owner);
    if (!next) return groups;
    priority = to_string(next->priority);
    owner = next->owner_uid;
    groups.push_back(*next);
  }
}

std::vector<int64_t> QueueStore::unread_of(const UnreadGroup& group, int64_t now,
                                           int64_t most) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(),
                  std::string("SELECT id FROM items WHERE ") + kIsUnread +
                      " AND priority = ? AND owner_uid = ? ORDER BY id LIMIT ?");
  query.bind(now).bind(to_string(group.priority)).bind(group.owner_uid).bind(most);
  std::vector<int64_t> ids;
  while (query.step()) ids.push_back(query.integer(0));
  return ids;
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
