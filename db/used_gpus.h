// What the ended attempts of each group used of the GPUs' time. Every method locks the database for
// one statement, so that any thread may call it, and throws DatabaseError.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/database.h"

namespace db {

struct UsedGpus {
  std::string group{};  // of the item, as in Item::group
  int64_t ended = 0;    // 0: not yet
  // Of all its GPUs; a search on processors counts as one. 0: its search did not start.
  double seconds = 0;
};

class UsedGpusStore {
 public:
  explicit UsedGpusStore(Database& database) : database_(database) {}
  // Of the attempts that ended after this time, seconds since the epoch, those of removed items
  // included, as everywhere here. Reads the whole tables.
  std::vector<UsedGpus> ended_after(int64_t time) const;
  // Of the attempts with a higher id, those that have not ended included.
  std::vector<UsedGpus> after(int64_t attempt_id) const;
  // Of this attempt; empty when there is none.
  std::vector<UsedGpus> of(int64_t attempt_id) const;
  // Of the attempts that have not ended, in ascending order.
  std::vector<int64_t> open() const;
  int64_t newest_attempt() const;  // 0: there was none

 private:
  std::vector<UsedGpus> where(const std::string& condition, int64_t value) const;

  Database& database_;
};

}  // namespace db
