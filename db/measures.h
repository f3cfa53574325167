// What was measured on finished searches. Every method locks the database for one statement, so
// that any thread may call it, and throws DatabaseError.
#pragma once

#include <vector>

#include "db/database.h"
#include "db/records.h"

namespace db {

class MeasureStore {
 public:
  explicit MeasureStore(Database& database) : database_(database) {}
  // All measures: a few for each size of image that was searched.
  std::vector<Measure> all() const;
  // Replaces the measure of the same quantity.
  void put(const Measure& measure);

 private:
  Database& database_;
};

}  // namespace db
