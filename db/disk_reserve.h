// Room on the database's disk that is kept for the next start: SQLite makes files when it opens a
// database, and a daemon that crashed on a full disk must be able to come back.
#pragma once

#include <cstdint>
#include <string>

namespace db {

inline constexpr int64_t kDiskReserve = 4 << 20;  // bytes

// Frees the room that is kept in the file at `path`, if there is any.
void release_reserve(const std::string& path);
// Keeps room again, where there is plenty; a disk without it has no reserve until the next call.
void keep_reserve(const std::string& path);

}  // namespace db
