// The registered templates. Every method locks the database for one statement, so that any thread
// may call it, and throws DatabaseError.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/records.h"

namespace db {

class TemplateStore {
 public:
  explicit TemplateStore(Database& database) : database_(database) {}
  // Returns the id.
  int64_t insert(const Template& record);
  // Also finds removed versions, as only this method and last_version() do.
  std::optional<Template> find(int64_t id) const;
  // Sets the counts of a version that was registered without them.
  void set_counts(int64_t id, const SearchCounts& counts);
  // The newest version of the name; nullopt: there is none.
  std::optional<Template> find_newest(const std::string& name) const;
  std::optional<Template> find_version(const std::string& name, int version) const;
  // The highest number that a version of the name has or had; 0: none.
  int last_version(const std::string& name) const;
  void remove(int64_t id, int64_t now);
  // Renames all versions.
  void rename(const std::string& from, const std::string& to);
  int64_t unfinished_items(int64_t id) const;
  // Ids of all versions of the name, removed ones included, in ascending order.
  std::vector<int64_t> ids_of(const std::string& name) const;
  // How many versions this user has registered, without removed ones.
  int64_t count_of(int64_t owner_uid) const;
  // All versions that were not removed, by name, then version.
  std::vector<Template> list() const;

 private:
  Database& database_;
};

}  // namespace db
