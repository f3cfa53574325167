// Copies of a database, made while it is in use.
#pragma once

#include <string>

#include "db/sqlite.h"

namespace db {

// The disk is too full for a copy. The message says how much space to free, and where.
class NoRoomForCopy : public DatabaseError {
 public:
  using DatabaseError::DatabaseError;
};

// Writes everything that is committed into a new database at `path`, readable by its owner alone,
// and checks it. A file at `path` is replaced only when the copy is complete. Throws NoRoomForCopy
// before it writes anything, and DatabaseError naming `path`.
void copy_database(Connection& connection, const std::string& path);

// Copies the database file `database`, which a daemon may be using, to `path`. Throws
// DatabaseRefused where `path` exists or `database` does not, and otherwise as copy_database().
void back_up(const std::string& database, const std::string& path);

}  // namespace db
