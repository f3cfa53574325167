// Folders of attempts that no record names: those of items that were removed, and those beside the
// attempts of an item that has ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "db/database.h"

namespace scheduler {

// A folder in which something has changed since then may be about to get a record.
constexpr std::chrono::hours kStrayAge{24};

struct StrayFolders {
  std::vector<std::string> names{};  // in the folder of jobs: "12", "12/a3"
  int64_t young = 0;                 // younger than kStrayAge
  // Items of which the database has never known: it was restored from a copy, and they were
  // enqueued after that.
  std::vector<int64_t> unknown{};
};

// Throws std::system_error and DatabaseError. `now` in seconds since the epoch.
StrayFolders find_stray_folders(db::Database& database, const std::string& jobs, int64_t now);

}  // namespace scheduler
