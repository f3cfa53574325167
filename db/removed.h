// Items that were removed from the queue's records, and their folders that are still to be removed.
// Of a removed item a short record stays for ever: what it used of the GPUs, when it arrived, and
// which file it was of, so that no watch enqueues that file again. Every method locks the database
// for one statement unless it says otherwise, so that any thread may call it, and throws
// DatabaseError.
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
  int64_t removed = 0;       // when
  std::string removed_by{};  // whom
  std::string results{};     // the folder of its results that were kept; empty: none were
};

// An item that has ended, or of which only results are left, since its end or its removal.
struct EndedRow {
  int64_t id = 0;
  Priority priority = Priority::kNormal;
  int64_t since = 0;
};

// An item's folder on its way out.
struct Removal {
  int64_t id = 0;
  int64_t item_id = 0;
  std::string folder{};  // of the item
  // The folder of the item's results that stay, which may be in this folder, by this path or by
  // another; empty: all goes.
  std::string results{};
};

class RemovedItemStore {
 public:
  explicit RemovedItemStore(Database& database) : database_(database) {}

  // Takes the item, its attempts and its result out of the records, in several statements: within a
  // Transaction. `results` is the folder of results that stay, or empty.
  void remove(int64_t item_id, int64_t time, const std::string& who, const std::string& results);
  std::optional<RemovedItem> find(int64_t item_id) const;
  // The newest (highest repeat) of one micrograph and one template version.
  std::optional<RemovedItem> find_newest(const std::string& micrograph_path,
                                         int64_t template_id) const;
  // The results that were kept are removed after all.
  void forget_results(int64_t item_id);

  // The folders of the item's attempts.
  std::vector<std::string> directories(int64_t item_id) const;
  // False while the cluster may still have a job of one of the item's attempts.
  bool is_forgotten(int64_t item_id) const;

  // Items that have ended, and removed ones whose results were kept: with an id above `after`, by
  // id, at most so many.
  std::vector<EndedRow> ended(int64_t after, int64_t most) const;
  std::vector<EndedRow> with_results(int64_t after, int64_t most) const;
  // Whether the folder of an item with this number is named by a record: the item's own, that of
  // kept results, or that of its removal.
  bool is_named(int64_t item_id) const;
  bool has_ended(int64_t item_id) const;
  bool was_removed(int64_t item_id) const;

  void add_removal(const Removal& removal);
  // Those with an id above `after`, by id, at most so many.
  std::vector<Removal> removals(int64_t after, int64_t most) const;
  void finish_removal(int64_t id);

 private:
  Database& database_;
};

}  // namespace db
