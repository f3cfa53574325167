#include "db/audit.h"

#include "db/table.h"

namespace db {
namespace {

const Table<AuditEntry> kAudit("audit", {{"id", &AuditEntry::id, Use::kKey},
                                         {"time", &AuditEntry::time},
                                         {"uid", &AuditEntry::uid},
                                         {"who", &AuditEntry::who},
                                         {"action", &AuditEntry::action},
                                         {"item_id", &AuditEntry::item_id},
                                         {"detail", &AuditEntry::detail}});

constexpr const char* kOldLines =
    " FROM audit WHERE time < ? AND item_id NOT IN "
    "(SELECT id FROM items WHERE state IN ('QUEUED', 'HELD', 'ACTIVE'))";

}  // namespace

void AuditStore::insert(const AuditEntry& entry) { kAudit.insert(database_, entry); }

std::vector<AuditEntry> AuditStore::of_item(int64_t item_id) const {
  return kAudit.all(database_, "WHERE item_id = ? ORDER BY id", item_id);
}

int64_t AuditStore::count_before(int64_t time) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(), std::string("SELECT count(*)") + kOldLines);
  query.bind(time).step();
  return query.integer(0);
}

int64_t AuditStore::remove_before(int64_t time, int64_t most) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(), std::string("DELETE FROM audit WHERE id IN (SELECT id") +
                                        kOldLines + " ORDER BY time LIMIT ?)")
      .bind(time)
      .bind(most)
      .run();
  return database_.connection().changes();
}

}  // namespace db
