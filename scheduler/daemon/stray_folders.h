// Folders of attempts that no record names: those of items that the database does not know, and
// those beside the attempts of an item that has ended.
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
  // Of items with higher numbers than any that this database has given: it was restored from a
  // backup, and they are of searches that it does not remember.
  std::vector<int64_t> unknown{};
};

// Throws std::system_error and DatabaseError. `now` in seconds since the epoch.
StrayFolders find_stray_folders(db::Database& database, const std::string& jobs, int64_t now);

}  // namespace scheduler
