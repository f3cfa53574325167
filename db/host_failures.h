// Failures that may be their host's fault. Every method locks the database for one statement, so
// that any thread may call it, and throws DatabaseError.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/records.h"

namespace db {

class HostFailureStore {
 public:
  explicit HostFailureStore(Database& database) : database_(database) {}
  // Ignores a second failure of the same attempt.
  void insert(const HostFailure& failure);
  // Failures at `time` (seconds since the epoch) or later, oldest first.
  std::vector<HostFailure> since(int64_t time) const;
  // The failed probes after which no search has passed its probe yet (the row), oldest first.
  std::vector<HostFailure> in_row() const;
  // A search that began at `time` has passed its probe: failures of searches that began no later
  // leave the row.
  void end_row(int64_t time);
  // The clock was set back to `now`: later times of failures and of searches in the row become
  // `now`.
  void limit_times(int64_t now);
  // Removes the failures before `time` that are not in the row.
  void remove_before(int64_t time);
  void remove_hosts(const std::set<std::string>& hosts);

 private:
  Database& database_;
};

}  // namespace db
