// Copies of a database, made while it is in use.
#pragma once

#include <string>

#include "db/sqlite.h"

namespace db {

// Says how much room is to be made, and where.
class NoRoomForCopy : public DatabaseError {
 public:
  using DatabaseError::DatabaseError;
};

// Writes all that is committed into a database of its own at `path`, replaced if it exists, whole
// or not at all, and checked. Readable by its owner alone. Throws NoRoomForCopy before it writes
// anything, and DatabaseError naming `path`.
void copy_database(Connection& connection, const std::string& path);

// The same from the file of a database, which a daemon may hold meanwhile, to a file that must not
// exist. Throws DatabaseRefused where it does, and where there is no database.
void back_up(const std::string& database, const std::string& path);

}  // namespace db
