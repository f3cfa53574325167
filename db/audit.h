// The record of who changed what. Every method locks the database for one statement, so that any
// thread may call it, and throws DatabaseError.
#pragma once

#include <vector>

#include "db/database.h"
#include "db/records.h"

namespace db {

class AuditStore {
 public:
  explicit AuditStore(Database& database) : database_(database) {}
  void insert(const AuditEntry& entry);
  // The commands that changed the item, oldest first.
  std::vector<AuditEntry> of_item(int64_t item_id) const;
  // How many entries are older than `time` (seconds since the epoch); entries about items that have
  // not ended do not count.
  int64_t count_before(int64_t time) const;
  // Removes at most `most` of the entries that count_before() counts, the oldest first; returns how
  // many.
  int64_t remove_before(int64_t time, int64_t most);

 private:
  Database& database_;
};

}  // namespace db
