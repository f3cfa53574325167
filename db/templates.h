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
  std::optional<Template> find(int64_t id) const;
  // Of a version that was registered without them.
  void set_counts(int64_t id, const SearchCounts& counts);
  // The newest version.
  std::optional<Template> find_newest(const std::string& name) const;
  std::optional<Template> find_version(const std::string& name, int version) const;
  // Versions count.
  int64_t count_of(int64_t owner_uid) const;
  // By name, then version.
  std::vector<Template> list() const;

 private:
  Database& database_;
};

}  // namespace db
