// The tokens that groups have taken to make items urgent. Every method locks the database for one
// statement, so that any thread may call it, and throws DatabaseError.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/records.h"

namespace db {

class UrgentTokenStore {
 public:
  explicit UrgentTokenStore(Database& database) : database_(database) {}
  void insert(const UrgentToken& token);
  // When the group took tokens after `time` (seconds since the epoch), oldest first.
  std::vector<int64_t> taken_after(const std::string& group, int64_t time) const;
  // When the item's newest token was taken; 0: it has none.
  int64_t newest_of_item(int64_t item_id) const;

 private:
  Database& database_;
};

}  // namespace db
