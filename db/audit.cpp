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

}  // namespace

void AuditStore::insert(const AuditEntry& entry) { kAudit.insert(database_, entry); }

std::vector<AuditEntry> AuditStore::of_item(int64_t item_id) const {
  return kAudit.all(database_, "WHERE item_id = ? ORDER BY id", item_id);
}

}  // namespace db
