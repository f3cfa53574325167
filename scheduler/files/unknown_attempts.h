// Finds attempts that have a folder but are not in the database, which is older than they are.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "db/restored.h"

namespace scheduler {

struct UnknownAttempts {
  std::vector<db::FoundAttempt> found{};  // at known items, by item and number
  std::set<int64_t> items{};  // items that have a folder and that the database does not know
  int64_t highest_item = 0;   // highest id of all folders
};

// `newest` comes from db::newest_attempts(). A folder in which no job was ever submitted is
// ignored. Throws base::FileError and std::filesystem::filesystem_error when the folder of jobs, or
// a script in it, cannot be read.
UnknownAttempts find_unknown_attempts(const std::string& jobs,
                                      const std::map<int64_t, int>& newest);

}  // namespace scheduler
