// Replaces a database that no daemon holds by a copy (`margay admin restore`). What happened after
// the copy was made is lost, except that attempts made since, as their folders show, are added to
// it, so that the daemon looks up their jobs and results instead of searching again.
#pragma once

#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "db/verify.h"

namespace scheduler {

struct RestoreRequest {
  std::string copy{};
  std::string database{};
  std::string jobs{};         // the folder of jobs
  bool without_jobs = false;  // the folder of jobs is lost for good
};

struct Restored {
  db::Verification copy{};
  std::string kept{};                // where the replaced database was kept; empty: there was none
  std::string kept_problem{};        // why the replaced database could not be read; empty: it could
  std::vector<int64_t> looked_up{};  // items whose attempts were made after the copy
  std::set<int64_t> unknown_items{};  // items that have a folder and that the copy does not know
};

// Nothing was done; the message says why, and what to do.
class RestoreRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The copy is not whole, or not what the daemon relies on.
class CopyRefused : public RestoreRefused {
 public:
  CopyRefused(const std::string& what, db::Verification found)
      : RestoreRefused(what), found_(std::move(found)) {}
  const db::Verification& found() const { return found_; }

 private:
  db::Verification found_;
};

// Restores completely or leaves the database as it is. `now` is in seconds since the epoch. Throws
// db::DatabaseHeld while a daemon holds the database, RestoreRefused, db::DatabaseError and
// std::system_error.
Restored restore_database(const RestoreRequest& request, int64_t now);

}  // namespace scheduler
