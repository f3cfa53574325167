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
  // Oldest first.
  std::vector<AuditEntry> of_item(int64_t item_id) const;

 private:
  Database& database_;
};

}  // namespace db
