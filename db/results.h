// The results of finished items. Every method locks the database for one statement, so that any
// thread may call it, and throws DatabaseError.
#pragma once

#include <optional>

#include "db/database.h"
#include "db/records.h"

namespace db {

class ResultStore {
 public:
  explicit ResultStore(Database& database) : database_(database) {}
  // Throws DatabaseError when the item has a result already.
  void insert(const Result& result);
  std::optional<Result> find(int64_t item_id) const;

 private:
  Database& database_;
};

}  // namespace db
