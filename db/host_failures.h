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
  // One for each attempt: a second one of the same attempt is ignored.
  void insert(const HostFailure& failure);
  // Of this time and later, oldest first.
  std::vector<HostFailure> since(int64_t time) const;
  // Older ones are of no use any more.
  void remove_before(int64_t time);
  void remove_hosts(const std::set<std::string>& hosts);

 private:
  Database& database_;
};

}  // namespace db
