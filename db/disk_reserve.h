// Room on the database's disk that is kept for the next start: SQLite makes files when it opens a
// database, and a daemon that crashed on a full disk must be able to come back.
#pragma once

#include <cstdint>
#include <string>

namespace db {

inline constexpr int64_t kDiskReserve = 4 << 20;  // bytes

// Frees the room by removing the file at `path`, if there is one.
void release_reserve(const std::string& path);
// Makes the file at `path` again if the disk has plenty of room; otherwise there is no reserve
// until the next call. Throws nothing.
void keep_reserve(const std::string& path);

}  // namespace db
