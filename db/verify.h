// Checks whether a database, or a copy of one, is whole and satisfies what the daemon relies on.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "db/sqlite.h"

namespace db {

struct Problem {
  std::string says{};    // what is wrong, a sentence without its full stop
  std::string advice{};  // what to do about it
};

struct Verification {
  std::string database{};  // the file
  int64_t schema = 0;      // its version; 0: not known
  int newest_schema = 0;   // the newest version that this program knows
  std::string instance{};
  int64_t items = 0;
  std::vector<std::pair<std::string, int64_t>> item_states{};  // the states that occur
  int64_t attempts = 0;
  int64_t open_attempts = 0;
  int64_t results = 0;
  int64_t templates = 0;
  std::vector<Problem> problems{};  // the first few of each kind
};

// Reads the whole file in one transaction and changes nothing; a daemon may be using it. Damage is
// reported in `problems`. Throws DatabaseError when there is no such file.
Verification verify_database(const std::string& path);

}  // namespace db
