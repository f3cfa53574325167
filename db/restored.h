// Adds to a restored copy of a database the attempts that began after the copy was made, before a
// daemon uses it. A daemon that does not know of an attempt would submit its search a second time;
// with the attempt as UNKNOWN it first looks up its job and its result (tracker.h).
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
  int nodes = 1;  // number of nodes that its script asks for
  int gpus = 0;   // on all nodes together
  int64_t created = 0;
};

// For each item the highest number of its attempts, or 0: an attempt with a higher number is new.
// Items that are done or removed have the highest int, since they get no new attempts.
std::map<int64_t, int> newest_attempts(Connection& connection);

// The highest id that an item has or had; 0: there was none.
int64_t highest_item(Connection& connection);

// Adds the attempts in one transaction, whatever the schema. `found` is ordered by item and number,
// and each of its items exists. The newest attempt of an item becomes its open one (UNKNOWN); the
// others, and those that the copy has as open, become LOST. New items get ids above `highest`.
void add_found_attempts(Connection& connection, const std::vector<FoundAttempt>& found,
                        int64_t highest, int64_t now);

}  // namespace db
