// What a copy of a database does not know of what happened after it, put into it before a daemon
// has it again. A daemon that knows nothing of an attempt submits its search a second time; one
// that has it as UNKNOWN looks up its job and its result first (tracker.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "db/sqlite.h"

namespace db {

// An attempt of which the database has no row, as its folder shows it.
struct FoundAttempt {
  int64_t item_id = 0;
  int number = 0;
  std::string directory{};
  std::string script{};
  std::string script_sha256{};
  std::string config_sha256{};
  int nodes = 1;  // that its script asks for
  int gpus = 0;   // of all of them
  int64_t created = 0;
};

// For each item the number that a new attempt would exceed; 0 where there is no attempt yet. No
// attempt at an item that is done, or was removed, is new.
std::map<int64_t, int> newest_attempts(Connection& connection);

// The highest number that an item has or had.
int64_t highest_item(Connection& connection);

// `found` is in the order of items and numbers, and all of these items are there. The newest of an
// item becomes its open attempt; what the copy has as open, and the others, have ended by then, and
// how is not known. Later items get numbers above `highest`. One transaction, in any schema.
void add_found_attempts(Connection& connection, const std::vector<FoundAttempt>& found,
                        int64_t highest, int64_t now);

}  // namespace db
