#include "scheduler/results/ended_items.h"

#include <filesystem>
#include <optional>

#include "db/removed.h"
#include "db/results.h"
#include "scheduler/files/attempt_folder.h"
#include "scheduler/files/removed_folder.h"
#include "scheduler/results/manifest_result.h"

namespace scheduler {
namespace {

// The database is locked for one page.
constexpr int64_t kPage = 5000;

template <typename Read>
void read_pages(Read read, std::vector<EndedItem>& items) {
  for (int64_t after = 0;;) {
    const std::vector<db::EndedRow> page = read(after);
    for (const db::EndedRow& row : page) {
      items.push_back({.id = row.id, .priority = row.priority, .ended = row.since});
    }
    if (page.size() < size_t{kPage}) return;
    after = page.back().id;
  }
}

}  // namespace

void EndedItems::read() {
  items_.clear();
  measured_ = 0;
  const db::RemovedItemStore store(database_);
  read_pages([&](int64_t after) { return store.ended(after, kPage); }, items_);
  if (results_) {
    read_pages([&](int64_t after) { return store.with_results(after, kPage); }, items_);
  }
  std::unordered_map<int64_t, Size> known;
  for (EndedItem& item : items_) {
    const auto size = sizes_.find(item.id);
    if (size == sizes_.end() || size->second.since != item.ended) continue;
    item.bytes = size->second.bytes;
    known.insert(*size);
  }
  sizes_.swap(known);
}

bool EndedItems::measure(const std::function<bool()>& time_is_up) {
  for (; measured_ < items_.size(); ++measured_) {
    EndedItem& item = items_[measured_];
    if (item.bytes) continue;
    if (time_is_up()) return false;
    item.bytes = bytes_of(item.id);
    sizes_[item.id] = {.since = item.ended, .bytes = *item.bytes};
  }
  return true;
}

int64_t EndedItems::bytes_of(int64_t item_id) {
  const std::string folder = item_folder(jobs_, item_id);
  const auto result = results_ ? std::nullopt : db::ResultStore(database_).find(item_id);
  if (!result) return bytes_in(folder);
  const auto kept = std::filesystem::path(result->manifest_path).parent_path();
  return bytes_besides(folder, path_in(folder, kept.string()), is_result_file);
}

}  // namespace scheduler
