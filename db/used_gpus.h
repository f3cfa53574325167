// The GPU time that each group's attempts used. Attempts of removed items count, too. Every method
// locks the database for one statement, so that any thread may call it, and throws DatabaseError.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/database.h"

namespace db {

struct UsedGpus {
  std::string group{};  // the item's, as in Item::group
  int64_t ended = 0;    // 0: not yet
  // GPU seconds, of all its GPUs together; a search on processors counts as one GPU. 0: its search
  // did not start.
  double seconds = 0;
};

class UsedGpusStore {
 public:
  explicit UsedGpusStore(Database& database) : database_(database) {}
  // Use by the attempts that ended after `time` (seconds since the epoch). Reads the whole tables.
  std::vector<UsedGpus> ended_after(int64_t time) const;
  // Use by the attempts with a higher id, those that have not ended included.
  std::vector<UsedGpus> after(int64_t attempt_id) const;
  // Use by this attempt; empty when there is no such attempt.
  std::vector<UsedGpus> of(int64_t attempt_id) const;
  // Ids of the attempts that have not ended, in ascending order.
  std::vector<int64_t> open() const;
  int64_t newest_attempt() const;  // its id; 0: there was none

 private:
  std::vector<UsedGpus> where(const std::string& condition, int64_t value) const;

  Database& database_;
};

}  // namespace db
