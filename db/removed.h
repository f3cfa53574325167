// Items that were removed from the queue's records, and their folders that are still to be removed.
// A short record of each removed item stays for ever: its GPU time, its arrival and its file, so
// that no watch enqueues that file again. Every method locks the database for one statement unless
// it says otherwise, so that any thread may call it, and throws DatabaseError.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/records.h"

namespace db {

struct RemovedItem {
  int64_t id = 0;
  std::string micrograph_path{};
  int64_t template_id = 0;
  int repeat = 0;
  Priority priority = Priority::kNormal;
  ItemState state = ItemState::kDone;  // when it was removed
  int64_t owner_uid = 0;
  std::string owner{};
  int64_t micrograph_bytes = 0;
  int64_t micrograph_mtime_ns = 0;
  std::string micrograph_sha256{};
  int64_t removed = 0;       // time of the removal
  std::string removed_by{};  // user
  std::string results{};     // folder of its kept results; empty: none were kept
};

// An item that has ended (`since` its end), or a removed one whose results were kept (`since` its
// removal).
struct EndedRow {
  int64_t id = 0;
  Priority priority = Priority::kNormal;
  int64_t since = 0;
};

// An item's folder that is still to be removed.
struct Removal {
  int64_t id = 0;
  int64_t item_id = 0;
  std::string folder{};  // the item's folder
  // Folder of results that are kept; it may lie in `folder`, under this path or another one. Empty:
  // everything is removed.
  std::string results{};
};

class RemovedItemStore {
 public:
  explicit RemovedItemStore(Database& database) : database_(database) {}

  // Moves the item, its attempts and its result out of the queue's records, in several statements:
  // call it within a Transaction. `results` is the folder of kept results, or empty.
  void remove(int64_t item_id, int64_t time, const std::string& who, const std::string& results);
  std::optional<RemovedItem> find(int64_t item_id) const;
  // The newest removed item (highest repeat) of one micrograph and one template version.
  std::optional<RemovedItem> find_newest(const std::string& micrograph_path,
                                         int64_t template_id) const;
  // Records that the results that were kept have been removed after all.
  void forget_results(int64_t item_id);

  // The folders of the item's attempts.
  std::vector<std::string> directories(int64_t item_id) const;
  // False while the cluster may still have a job of one of the item's attempts.
  bool is_forgotten(int64_t item_id) const;

  // At most `most` items that have ended, or removed ones whose results were kept, with an id above
  // `after`, by id.
  std::vector<EndedRow> ended(int64_t after, int64_t most) const;
  std::vector<EndedRow> with_results(int64_t after, int64_t most) const;
  // Whether a record names a folder of this item: its own, that of its kept results, or one that is
  // still to be removed.
  bool is_named(int64_t item_id) const;
  bool has_ended(int64_t item_id) const;
  bool was_removed(int64_t item_id) const;

  void add_removal(const Removal& removal);
  // At most `most` removals with an id above `after`, by id.
  std::vector<Removal> removals(int64_t after, int64_t most) const;
  void finish_removal(int64_t id);

 private:
  Database& database_;
};

}  // namespace db
