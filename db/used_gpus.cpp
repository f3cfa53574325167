#include "db/used_gpus.h"

#include <algorithm>

#include "db/attempts.h"

namespace db {

std::vector<UsedGpus> UsedGpusStore::where(const std::string& condition, int64_t value) const {
  const std::scoped_lock lock(database_.mutex());
  // What was used stays so when the item is removed.
  const std::string sql =
      "SELECT items.group_name, attempts.ended, attempts.started, attempts.gpus "
      "FROM attempts JOIN items ON items.id = attempts.item_id WHERE " +
      condition + " UNION ALL " +
      "SELECT items.group_name, attempts.ended, attempts.started, attempts.gpus "
      "FROM removed_attempts AS attempts JOIN removed_items AS items "
      "ON items.id = attempts.item_id WHERE " +
      condition;
  Statement query(database_.connection(), sql);
  query.bind(value).bind(value);
  std::vector<UsedGpus> used;
  while (query.step()) {
    const int64_t ended = query.integer(1);
    const int64_t started = query.integer(2);
    const int64_t ran = started > 0 ? std::max<int64_t>(0, ended - started) : 0;
    const int64_t devices = std::max<int64_t>(1, query.integer(3));
    used.push_back({.group = query.text(0),
                    .ended = ended,
                    .seconds = static_cast<double>(ran) * static_cast<double>(devices)});
  }
  return used;
}

std::vector<UsedGpus> UsedGpusStore::ended_after(int64_t time) const {
  return where("attempts.ended > ?", time);
}

std::vector<UsedGpus> UsedGpusStore::after(int64_t attempt_id) const {
  return where("attempts.id > ?", attempt_id);
}

std::vector<UsedGpus> UsedGpusStore::of(int64_t attempt_id) const {
  return where("attempts.id = ?", attempt_id);
}

std::vector<int64_t> UsedGpusStore::open() const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(), std::string("SELECT id FROM attempts WHERE state IN ") +
                                              kOpenStates + " ORDER BY id");
  std::vector<int64_t> ids;
  while (query.step()) ids.push_back(query.integer(0));
  return ids;
}

int64_t UsedGpusStore::newest_attempt() const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(),
                  "SELECT max((SELECT coalesce(max(id), 0) FROM attempts), "
                  "(SELECT coalesce(max(id), 0) FROM removed_attempts))");
  query.step();
  return query.integer(0);
}

}  // namespace db
