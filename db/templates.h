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
  // Also one that was removed, which only this and last_version() see.
  std::optional<Template> find(int64_t id) const;
  // Of a version that was registered without them.
  void set_counts(int64_t id, const SearchCounts& counts);
  // The newest version.
  std::optional<Template> find_newest(const std::string& name) const;
  std::optional<Template> find_version(const std::string& name, int version) const;
  // The highest number that a version of the name has or had; 0: none.
  int last_version(const std::string& name) const;
  void remove(int64_t id, int64_t now);
  // Of all versions.
  void rename(const std::string& from, const std::string& to);
  int64_t unfinished_items(int64_t id) const;
  // Of all versions of that name.
  std::vector<int64_t> ids_of(const std::string& name) const;
  // Versions count.
  int64_t count_of(int64_t owner_uid) const;
  // By name, then version.
  std::vector<Template> list() const;

 private:
  Database& database_;
};

}  // namespace db
