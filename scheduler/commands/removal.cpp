#include "scheduler/commands/removal.h"

#include <filesystem>
#include <set>

#include "db/audit.h"
#include "db/removed.h"
#include "db/results.h"
#include "scheduler/commands/item_words.h"
#include "scheduler/policy/policy.h"

namespace scheduler {
namespace {

std::string parent_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

void check_removable(db::Database& database, const db::Item& item) {
  if (!has_ended(item.state)) {
    const std::string advice =
        item.cancel_requested
            ? " and is being cancelled: remove it once its job has stopped"
            : ": cancel it first ('margay cancel " + std::to_string(item.id) + "')";
    throw Conflict(item_name(item) + " has not ended" + advice, item.id);
  }
  if (!db::RemovedItemStore(database).is_forgotten(item.id)) {
    throw Conflict(
        item_name(item) +
            " has a job of which the cluster has not said yet that it is gone: try again "
            "once the cluster has answered ('margay status' says when it last did)",
        item.id);
  }
}

// Only a folder that bears the item's number is the item's.
std::set<std::string> folders_of(db::Database& database, int64_t item_id) {
  std::set<std::string> folders;
  for (const std::string& directory : db::RemovedItemStore(database).directories(item_id)) {
    const std::filesystem::path folder = std::filesystem::path(directory).parent_path();
    if (folder.filename() == std::to_string(item_id)) folders.insert(folder.string());
  }
  return folders;
}

void write_line(db::Database& database, int64_t item_id, const RemovedBy& by,
                const std::string& detail) {
  db::AuditStore(database).insert({.time = by.time,
                                   .uid = by.uid,
                                   .who = by.who,
                                   .action = "remove",
                                   .item_id = item_id,
                                   .detail = detail});
}

}  // namespace

NotFound no_item(db::Database& database, int64_t item_id) {
  const std::string name = "no item " + std::to_string(item_id);
  const auto removed = db::RemovedItemStore(database).find(item_id);
  if (!removed) return NotFound(name);
  const std::string results =
      removed->results.empty() ? "" : "; its results are in '" + removed->results + "'";
  return NotFound(name + ": it was removed by " + removed->removed_by + " at " +
                  deadline_text(removed->removed) + results);
}

std::string remove_item(db::Database& database, const db::Item& item, bool results,
                        const RemovedBy& by) {
  check_removable(database, item);
  const auto result = db::ResultStore(database).find(item.id);
  const std::string kept = result && !results ? parent_of(result->manifest_path) : "";
  db::RemovedItemStore removed(database);
  for (const std::string& folder : folders_of(database, item.id)) {
    removed.add_removal({.item_id = item.id, .folder = folder, .results = kept});
  }
  removed.remove(item.id, by.time, by.who, kept);
  std::string detail = "was " + to_string(item.state);
  if (!by.why.empty()) detail += "; " + by.why;
  if (result) detail += kept.empty() ? "; with its results" : "; its results stay in " + kept;
  write_line(database, item.id, by, detail);
  return detail;
}

void remove_kept_results(db::Database& database, int64_t item_id, const RemovedBy& by) {
  db::RemovedItemStore store(database);
  const auto removed = store.find(item_id);
  if (!removed || removed->results.empty()) throw no_item(database, item_id);
  store.add_removal({.item_id = item_id, .folder = parent_of(removed->results)});
  store.forget_results(item_id);
  write_line(database, item_id, by, "its results, too" + (by.why.empty() ? "" : "; " + by.why));
}

}  // namespace scheduler
