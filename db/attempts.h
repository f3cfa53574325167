#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/records.h"

namespace db {

// SUBMITTING, UNKNOWN, PENDING, RUNNING, COMPLETING: not ended.
bool is_open(AttemptState state);

class AttemptStore {
 public:
  explicit AttemptStore(Database& database) : database_(database) {}
  // Returns the id.
  int64_t insert(const Attempt& attempt);
  // As submitted. The other queries leave Attempt::script empty: thousands of them would not fit.
  std::string script(int64_t id) const;
  std::optional<Attempt> find(int64_t id) const;
  std::optional<Attempt> find_by_token(const std::string& token) const;
  // By number.
  std::vector<Attempt> of_item(int64_t item_id) const;
  std::optional<Attempt> newest_of_item(int64_t item_id) const;
  // Every attempt that has not ended, by id.
  std::vector<Attempt> open() const;
  // Ended attempts whose job the cluster still remembers.
  std::vector<Attempt> ended_not_forgotten() const;
  void mark_forgotten(int64_t id);
  // State, cause, message, job_id, host, exit_code, what the cluster says, release_due,
  // stop_asked and the times. Returns false, and changes
  // nothing, when the stored attempt has ended: terminal states never flip.
  bool update(const Attempt& attempt);

 private:
  Database& database_;
};

}  // namespace db
