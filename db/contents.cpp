#include "db/contents.h"

#include "db/table.h"

namespace db {
namespace {

const Table<Content> kContents("contents", {{"owner_uid", &Content::owner_uid},
                                            {"template_name", &Content::template_name},
                                            {"sha256", &Content::sha256},
                                            {"item_id", &Content::item_id},
                                            {"path", &Content::path}});

}  // namespace

void ContentStore::insert(const Content& content) { kContents.insert(database_, content); }

std::optional<Content> ContentStore::find(int64_t owner_uid, const std::string& template_name,
                                          const std::string& sha256) const {
  return kContents.one(database_, "WHERE owner_uid = ? AND template_name = ? AND sha256 = ?",
                       owner_uid, template_name, sha256);
}

void ContentStore::rename_template(const std::string& from, const std::string& to) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(), "UPDATE contents SET template_name = ? WHERE template_name = ?")
      .bind(to)
      .bind(from)
      .run();
}

}  // namespace db
