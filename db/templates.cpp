#include "db/templates.h"

#include "db/table.h"

namespace db {
namespace {

template <typename Value>
auto of_volume(Value FileId::*field) {
  return [field](auto& record) -> auto& { return record.volume_id.*field; };
}

template <typename Value>
auto of_counts(Value SearchCounts::*field) {
  return [field](auto& record) -> auto& { return record.counts.*field; };
}

const Table<Template> kTemplates("templates",
                                 {{"id", &Template::id, Use::kKey},
                                  {"name", &Template::name},
                                  {"version", &Template::version},
                                  {"volume_path", &Template::volume_path},
                                  {"volume_sha256", &Template::volume_sha256},
                                  {"volume_bytes", &Template::volume_bytes},
                                  {"volume_mtime_ns", &Template::volume_mtime_ns},
                                  {"volume_inode", of_volume(&FileId::inode)},
                                  {"volume_device", of_volume(&FileId::device)},
                                  {"volume_mount", of_volume(&FileId::mount)},
                                  {"search_yaml", &Template::search_yaml},
                                  {"search_sha256", &Template::search_sha256},
                                  {"counted_by", of_counts(&SearchCounts::engine)},
                                  {"orientations", of_counts(&SearchCounts::orientations)},
                                  {"defocus_planes", of_counts(&SearchCounts::defocus_planes)},
                                  {"pixel_sizes", of_counts(&SearchCounts::pixel_sizes)},
                                  {"template_size", of_counts(&SearchCounts::template_size)},
                                  {"owner_uid", &Template::owner_uid},
                                  {"owner", &Template::owner},
                                  {"created", &Template::created},
                                  {"removed", &Template::removed}});

}  // namespace

int64_t TemplateStore::insert(const Template& record) {
  return kTemplates.insert(database_, record);
}

std::optional<Template> TemplateStore::find(int64_t id) const {
  return kTemplates.one(database_, "WHERE id = ?", id);
}

std::optional<Template> TemplateStore::find_newest(const std::string& name) const {
  return kTemplates.one(database_, "WHERE name = ? AND removed = 0 ORDER BY version DESC", name);
}

std::optional<Template> TemplateStore::find_version(const std::string& name, int version) const {
  return kTemplates.one(database_, "WHERE name = ? AND version = ? AND removed = 0", name, version);
}

void TemplateStore::set_counts(int64_t id, const SearchCounts& counts) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(),
            "UPDATE templates SET counted_by = ?, orientations = ?, defocus_planes = ?, "
            "pixel_sizes = ?, template_size = ? WHERE id = ?")
      .bind(counts.engine)
      .bind(counts.orientations)
      .bind(counts.defocus_planes)
      .bind(counts.pixel_sizes)
      .bind(counts.template_size)
      .bind(id)
      .run();
}

int64_t TemplateStore::count_of(int64_t owner_uid) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(),
                  "SELECT count(*) FROM templates WHERE owner_uid = ? AND removed = 0");
  query.bind(owner_uid);
  query.step();
  return query.integer(0);
}

int TemplateStore::last_version(const std::string& name) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(),
                  "SELECT coalesce(max(version), 0) FROM templates WHERE name = ?");
  query.bind(name);
  query.step();
  return static_cast<int>(query.integer(0));
}

void TemplateStore::remove(int64_t id, int64_t now) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(), "UPDATE templates SET removed = ? WHERE id = ?")
      .bind(now)
      .bind(id)
      .run();
}

void TemplateStore::rename(const std::string& from, const std::string& to) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(), "UPDATE templates SET name = ? WHERE name = ?")
      .bind(to)
      .bind(from)
      .run();
}

int64_t TemplateStore::unfinished_items(int64_t id) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(),
                  "SELECT count(*) FROM items WHERE template_id = ? AND state IN (?, ?, ?)");
  query.bind(id);
  for (const ItemState state : {ItemState::kQueued, ItemState::kHeld, ItemState::kActive}) {
    query.bind(to_string(state));
  }
  query.step();
  return query.integer(0);
}

std::vector<int64_t> TemplateStore::ids_of(const std::string& name) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(), "SELECT id FROM templates WHERE name = ? ORDER BY id");
  query.bind(name);
  std::vector<int64_t> ids;
  while (query.step()) ids.push_back(query.integer(0));
  return ids;
}

std::vector<Template> TemplateStore::list() const {
  return kTemplates.all(database_, "WHERE removed = 0 ORDER BY name, version");
}

}  // namespace db
