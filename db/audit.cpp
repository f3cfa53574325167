#include "db/audit.h"

namespace db {

void AuditStore::insert(const AuditEntry& entry) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(),
            "INSERT INTO audit (time, uid, who, action, item_id, detail) VALUES (?, ?, ?, ?, ?, ?)")
      .bind(entry.time)
      .bind(entry.uid)
      .bind(entry.who)
      .bind(entry.action)
      .bind(entry.item_id)
      .bind(entry.detail)
      .run();
}

std::vector<AuditEntry> AuditStore::of_item(int64_t item_id) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(),
                  "SELECT id, time, uid, who, action, item_id, detail FROM audit WHERE item_id = ? "
                  "ORDER BY id");
  query.bind(item_id);
  std::vector<AuditEntry> entries;
  while (query.step()) {
    entries.push_back({query.integer(0), query.integer(1), query.integer(2), query.text(3),
                       query.text(4), query.integer(5), query.text(6)});
  }
  return entries;
}

}  // namespace db
