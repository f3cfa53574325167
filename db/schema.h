// The tables, as numbered steps that are only ever appended to.
#pragma once

#include "db/sqlite.h"

namespace db {

// The newest step that this program knows.
int newest_schema();

// Brings the database to the newest schema in one transaction and returns it. Throws
// DatabaseRefused when it is newer than newest_schema().
int upgrade_schema(Connection& connection);

}  // namespace db
