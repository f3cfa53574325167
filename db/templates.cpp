#include "db/templates.h"

namespace db {
namespace {

const std::string kSelect =
    "SELECT id, name, version, volume_path, volume_sha256, volume_bytes, volume_mtime_ns, "
    "search_yaml, search_sha256, owner_uid, owner, created FROM templates ";

Template read_row(const Statement& row) {
  Template record;
  record.id = row.integer(0);
  record.name = row.text(1);
  record.version = static_cast<int>(row.integer(2));
  record.volume_path = row.text(3);
  record.volume_sha256 = row.text(4);
  record.volume_bytes = row.integer(5);
  record.volume_mtime_ns = row.integer(6);
  record.search_yaml = row.text(7);
  record.search_sha256 = row.text(8);
  record.owner_uid = row.integer(9);
  record.owner = row.text(10);
  record.created = row.integer(11);
  return record;
}

std::optional<Template> one(Statement& query) {
  if (!query.step()) return std::nullopt;
  return read_row(query);
}

}  // namespace

int64_t TemplateStore::insert(const Template& record) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(),
            "INSERT INTO templates (name, version, volume_path, volume_sha256, volume_bytes, "
            "volume_mtime_ns, search_yaml, search_sha256, owner_uid, owner, created) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(record.name)
      .bind(record.version)
      .bind(record.volume_path)
      .bind(record.volume_sha256)
      .bind(record.volume_bytes)
      .bind(record.volume_mtime_ns)
      .bind(record.search_yaml)
      .bind(record.search_sha256)
      .bind(record.owner_uid)
      .bind(record.owner)
      .bind(record.created)
      .run();
  return database_.connection().last_insert_id();
}

std::optional<Template> TemplateStore::find(int64_t id) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(), kSelect + "WHERE id = ?");
  query.bind(id);
  return one(query);
}

std::optional<Template> TemplateStore::find_newest(const std::string& name) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(), kSelect + "WHERE name = ? ORDER BY version DESC LIMIT 1");
  query.bind(name);
  return one(query);
}

std::optional<Template> TemplateStore::find_version(const std::string& name, int version) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(), kSelect + "WHERE name = ? AND version = ?");
  query.bind(name).bind(version);
  return one(query);
}

std::vector<Template> TemplateStore::list() const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(), kSelect + "ORDER BY name, version");
  std::vector<Template> records;
  while (query.step()) records.push_back(read_row(query));
  return records;
}

}  // namespace db
