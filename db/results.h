#pragma once

#include <optional>

#include "db/database.h"
#include "db/records.h"

namespace db {

class ResultStore {
 public:
  explicit ResultStore(Database& database) : database_(database) {}
  // One result per item: throws DatabaseError when the item has one.
  void insert(const Result& result);
  std::optional<Result> find(int64_t item_id) const;

 private:
  Database& database_;
};

}  // namespace db
