// The contents, by SHA-256, of the micrographs that `margay watch` has enqueued: each content is
// enqueued only once, for ever. Every method locks the database for one statement, so that any
// thread may call it, and throws DatabaseError.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "db/database.h"

namespace db {

// A content that this user has enqueued with any version of the template of this name.
struct Content {
  int64_t owner_uid = 0;
  std::string template_name{};
  std::string sha256{};
  int64_t item_id = 0;
  std::string path{};  // the item's micrograph
};

class ContentStore {
 public:
  explicit ContentStore(Database& database) : database_(database) {}
  // Throws DatabaseError when the content is stored already.
  void insert(const Content& content);
  std::optional<Content> find(int64_t owner_uid, const std::string& template_name,
                              const std::string& sha256) const;
  void rename_template(const std::string& from, const std::string& to);

 private:
  Database& database_;
};

}  // namespace db
