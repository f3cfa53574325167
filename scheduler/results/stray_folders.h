// Finds folders of attempts that no record names: those of removed items, and extra ones of items
// that have ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "db/database.h"

namespace scheduler {

// A folder that changed more recently than this may be about to get a record.
constexpr std::chrono::hours kStrayAge{24};

struct StrayFolders {
  std::vector<std::string> names{};  // in the folder of jobs: "12", "12/a3"
  int64_t young = 0;                 // how many are younger than kStrayAge
  // Items that the database never knew: it was restored from a copy made before they were enqueued.
  std::vector<int64_t> unknown{};
};

// `now` is in seconds since the epoch. `look` is called before each folder, since there may be
// many, and may throw. Throws std::system_error and DatabaseError.
StrayFolders find_stray_folders(db::Database& database, const std::string& jobs, int64_t now,
                                const std::function<void()>& look);

}  // namespace scheduler
