// The administrator's pauses of all submissions and of lanes, which outlive the daemon. Every
// method locks the database for one statement, so that any thread may call it, and throws
// DatabaseError.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/records.h"

namespace db {

class PauseStore {
 public:
  explicit PauseStore(Database& database) : database_(database) {}
  // Pauses all submissions; replaces an earlier pause.
  void set(const Pause& pause);
  // Returns false when there was no pause.
  bool clear();
  std::optional<Pause> find() const;

  // Pauses of single lanes, with the same contract; lanes() orders them by place.
  void set_lane(const LanePause& pause);
  bool clear_lane(const std::map<std::string, std::string>& place);
  std::vector<LanePause> lanes() const;

 private:
  Database& database_;
};

}  // namespace db
