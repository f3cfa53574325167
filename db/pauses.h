// The administrator's pause of all submissions, which outlives the daemon. Every method locks the
// database for one statement, so that any thread may call it, and throws DatabaseError.
#pragma once

#include <optional>

#include "db/database.h"
#include "db/records.h"

namespace db {

class PauseStore {
 public:
  explicit PauseStore(Database& database) : database_(database) {}
  // Takes the place of an earlier one.
  void set(const Pause& pause);
  // Returns false when there was none.
  bool clear();
  std::optional<Pause> find() const;

 private:
  Database& database_;
};

}  // namespace db
