// A database as the version before this one has it.
#pragma once

#include <string>

#include "db/schema.h"
#include "db/sqlite.h"

namespace db {

inline void undo_newest_step(const std::string& path) {
  Connection raw(path);
  for (const char* table : {"removed_attempts", "removed_items", "removals"}) {
    raw.execute(std::string("DROP TABLE ") + table);
  }
  raw.execute("DROP INDEX audit_by_time");
  raw.execute(("PRAGMA user_version = " + std::to_string(newest_schema() - 1)).c_str());
}

}  // namespace db
