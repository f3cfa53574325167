// The tables, as numbered steps. A released step never changes; new ones are appended.
#pragma once

#include <cstdint>

#include "db/sqlite.h"

namespace db {

// The number of the newest step that this program knows.
int newest_schema();

// The number of this database's last step; 0: it is empty.
int64_t stored_version(Connection& connection);

// Brings the database to the newest schema in one transaction and returns its number. Throws
// DatabaseRefused when it is newer than newest_schema().
int upgrade_schema(Connection& connection);

}  // namespace db
