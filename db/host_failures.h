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
  // Failures of this time (seconds since the epoch) and later, oldest first.
  std::vector<HostFailure> since(int64_t time) const;
  // Failed probes since which no search has passed its probe, oldest first.
  std::vector<HostFailure> in_row() const;
  // A search that began at this time has passed its probe: those that began before are in no row.
  void end_row(int64_t time);
  // The clock was set back: no failure, and no search of a row, is of a time after `now`.
  void limit_times(int64_t now);
  // Removes failures before this time, but none that is in a row.
  void remove_before(int64_t time);
  void remove_hosts(const std::set<std::string>& hosts);

 private:
  Database& database_;
};

}  // namespace db
