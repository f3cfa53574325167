#include "db/removed.h"

#include "db/table.h"

namespace db {
namespace {

const Table<RemovedItem> kRemoved("removed_items",
                                  {{"id", &RemovedItem::id},
                                   {"micrograph_path", &RemovedItem::micrograph_path},
                                   {"template_id", &RemovedItem::template_id},
                                   {"repeat", &RemovedItem::repeat},
                                   {"priority", &RemovedItem::priority},
                                   {"state", &RemovedItem::state},
                                   {"owner_uid", &RemovedItem::owner_uid},
                                   {"owner", &RemovedItem::owner},
                                   {"micrograph_bytes", &RemovedItem::micrograph_bytes},
                                   {"micrograph_mtime_ns", &RemovedItem::micrograph_mtime_ns},
                                   {"micrograph_sha256", &RemovedItem::micrograph_sha256},
                                   {"removed", &RemovedItem::removed},
                                   {"removed_by", &RemovedItem::removed_by},
                                   {"results", &RemovedItem::results}});

const Table<EndedRow> kEnded("items", {{"id", &EndedRow::id},
                                       {"priority", &EndedRow::priority},
                                       {"changed", &EndedRow::since}});
const Table<EndedRow> kWithResults("removed_items", {{"id", &EndedRow::id},
                                                     {"priority", &EndedRow::priority},
                                                     {"removed", &EndedRow::since}});

constexpr const char* kEndedStates = "('DONE', 'FAILED', 'CANCELLED', 'QUARANTINED')";

const Table<Removal> kRemovals("removals", {{"id", &Removal::id, Use::kKey},
                                            {"item_id", &Removal::item_id},
                                            {"folder", &Removal::folder},
                                            {"results", &Removal::results}});

}  // namespace

void RemovedItemStore::remove(int64_t item_id, int64_t time, const std::string& who,
                              const std::string& results) {
  const std::scoped_lock lock(database_.mutex());
  Connection& connection = database_.connection();
  // Without parsing a word: a row that this version cannot read is kept as it is, too.
  Statement(connection,
            "INSERT INTO removed_items SELECT id, micrograph_path, template_id, repeat, priority, "
            "state, owner_uid, owner, group_name, created, finish_by, micrograph_bytes, "
            "micrograph_mtime_ns, micrograph_sha256, micrograph_width, micrograph_height, ?, ?, ? "
            "FROM items WHERE id = ?")
      .bind(time)
      .bind(who)
      .bind(results)
      .bind(item_id)
      .run();
  Statement(connection,
            "INSERT INTO removed_attempts SELECT id, item_id, number, state, started, ended, gpus, "
            "nodes, gpus_per_node FROM attempts WHERE item_id = ?")
      .bind(item_id)
      .run();
  for (const char* statement :
       {"DELETE FROM results WHERE item_id = ?", "DELETE FROM attempts WHERE item_id = ?",
        "DELETE FROM items WHERE id = ?"}) {
    Statement(connection, statement).bind(item_id).run();
  }
}

std::optional<RemovedItem> RemovedItemStore::find(int64_t item_id) const {
  return kRemoved.one(database_, "WHERE id = ?", item_id);
}

std::optional<RemovedItem> RemovedItemStore::find_newest(const std::string& micrograph_path,
                                                         int64_t template_id) const {
  return kRemoved.one(database_,
                      "WHERE micrograph_path = ? AND template_id = ? ORDER BY repeat DESC",
                      micrograph_path, template_id);
}

void RemovedItemStore::forget_results(int64_t item_id) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(), "UPDATE removed_items SET results = '' WHERE id = ?")
      .bind(item_id)
      .run();
}

std::vector<std::string> RemovedItemStore::directories(int64_t item_id) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(),
                  "SELECT directory FROM attempts WHERE item_id = ? AND directory != ''");
  query.bind(item_id);
  std::vector<std::string> directories;
  while (query.step()) directories.push_back(query.text(0));
  return directories;
}

bool RemovedItemStore::is_forgotten(int64_t item_id) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(),
                  "SELECT 1 FROM attempts WHERE item_id = ? AND +forgotten = 0 LIMIT 1");
  query.bind(item_id);
  return !query.step();
}

std::vector<EndedRow> RemovedItemStore::ended(int64_t after, int64_t most) const {
  return kEnded.all(
      database_,
      kEnded.readable() + "AND id > ? AND +state IN " + kEndedStates + " ORDER BY id LIMIT ?",
      after, most);
}

std::vector<EndedRow> RemovedItemStore::with_results(int64_t after, int64_t most) const {
  return kWithResults.all(
      database_, kWithResults.readable() + "AND id > ? AND results != '' ORDER BY id LIMIT ?",
      after, most);
}

bool RemovedItemStore::is_named(int64_t item_id) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(),
                  "SELECT 1 FROM items WHERE id = ? UNION ALL "
                  "SELECT 1 FROM removed_items WHERE id = ? AND results != '' UNION ALL "
                  "SELECT 1 FROM removals WHERE item_id = ?");
  return query.bind(item_id).bind(item_id).bind(item_id).step();
}

bool RemovedItemStore::has_ended(int64_t item_id) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(),
                  std::string("SELECT 1 FROM items WHERE id = ? AND +state IN ") + kEndedStates);
  return query.bind(item_id).step();
}

bool RemovedItemStore::was_removed(int64_t item_id) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(), "SELECT 1 FROM removed_items WHERE id = ?");
  return query.bind(item_id).step();
}

void RemovedItemStore::add_removal(const Removal& removal) { kRemovals.insert(database_, removal); }

std::vector<Removal> RemovedItemStore::removals(int64_t after, int64_t most) const {
  return kRemovals.all(database_, "WHERE id > ? ORDER BY id LIMIT ?", after, most);
}

void RemovedItemStore::finish_removal(int64_t id) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(), "DELETE FROM removals WHERE id = ?").bind(id).run();
}

}  // namespace db
