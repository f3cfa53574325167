// The attempts at items. Every method locks the database for one statement, so that any thread may
// call it, and throws DatabaseError.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/records.h"

namespace db {

// True for SUBMITTING, UNKNOWN, PENDING, RUNNING and COMPLETING: the attempt has not ended.
bool is_open(AttemptState state);
// The states for which is_open() is true, as a list in SQL.
inline constexpr const char* kOpenStates =
    "('SUBMITTING', 'UNKNOWN', 'PENDING', 'RUNNING', 'COMPLETING')";

class AttemptStore {
 public:
  explicit AttemptStore(Database& database) : database_(database) {}
  // Returns the id.
  int64_t insert(const Attempt& attempt);
  // The script as submitted; empty when there is no such attempt. The other queries leave
  // Attempt::script empty, since thousands of them would take too much memory.
  std::string script(int64_t id) const;
  std::optional<Attempt> find(int64_t id) const;
  std::optional<Attempt> find_by_token(const std::string& token) const;
  // The item's attempts, ordered by number.
  std::vector<Attempt> of_item(int64_t item_id) const;
  std::optional<Attempt> newest_of_item(int64_t item_id) const;
  // The item's attempt that has not ended; nullopt: there is none.
  std::optional<Attempt> open_of_item(int64_t item_id) const;
  // Every attempt that has not ended, by id.
  std::vector<Attempt> open() const;
  // Ended attempts whose jobs the cluster still remembers, by id.
  std::vector<Attempt> ended_not_forgotten() const;
  // What is wrong with the rows that cannot be read, one sentence each, for at most `most` rows.
  std::vector<std::string> unreadable(int64_t most) const;
  void mark_forgotten(int64_t id);
  // Deletes the attempt's row: the cluster refused the attempt, and no record of it is needed.
  void remove(int64_t id);
  // An ended attempt's failure no longer counts against its item.
  void mark_exempt(int64_t id);
  // Stores state, cause, message, job_id, host, exit_code, the cluster's words and reason,
  // restarts, release_due, stop_asked and the times. Returns false, and changes nothing, when the
  // stored attempt has ended: terminal states never flip.
  bool update(const Attempt& attempt);

 private:
  Database& database_;
};

}  // namespace db
