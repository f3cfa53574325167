// The items. Every method locks the database for one statement, so that any thread may call it, and
// throws DatabaseError.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/records.h"

namespace db {

// Item::options as the database stores them, and the inverse.
std::string options_text(const std::map<std::string, std::string>& options);
std::map<std::string, std::string> parse_options(const std::string& text);

// Which items to list; empty fields do not restrict.
struct ItemQuery {
  std::vector<int64_t> ids;
  std::vector<ItemState> states;
  std::vector<Priority> priorities;
  std::optional<int64_t> template_id;
  std::string label;
  std::string owner;
  int64_t after_id = 0;                 // ids above this one, for paging
  int64_t limit = 0;                    // 0 = all
  std::vector<int64_t> template_ids{};  // any of these
  std::optional<int64_t> owner_uid{};
  std::string micrograph{};  // its whole path
  std::string file_name{};   // the last part of its path
  int64_t up_to_id = 0;      // ids up to this one; 0: any
  bool newest = false;       // if more than `limit` match, the newest are listed
};

// Counts of one owner's items that have not ended.
struct Unfinished {
  int64_t items = 0;
  int64_t labels = 0;  // different labels
};

class ItemStore {
 public:
  explicit ItemStore(Database& database) : database_(database) {}
  // Returns the id.
  int64_t insert(const Item& item);
  std::optional<Item> find(int64_t id) const;
  // The newest item (highest repeat) of one micrograph and one template version.
  std::optional<Item> find_newest(const std::string& micrograph_path, int64_t template_id) const;
  // The items that match, by id. Rows that cannot be read are left out; if the query names ids,
  // they throw UnreadableRow instead.
  std::vector<Item> list(const ItemQuery& query) const;
  // What is wrong with the rows that list() leaves out, one sentence each, for at most `most` rows
  // of each kind.
  std::vector<std::string> unreadable(int64_t most) const;
  std::map<ItemState, int64_t> counts() const;
  // `label` counts as one of the labels, unless it is empty.
  Unfinished unfinished_of(int64_t owner_uid, const std::string& label) const;
  // Stores the fields that can change: priority, state, reason, cancel_requested, changed,
  // not_before, finish_by, exempt_through, options, ctf and what is known of the micrograph's file.
  void update(const Item& item);
  void set_state(int64_t id, ItemState state, const std::string& reason, int64_t now);

 private:
  std::vector<Item> list_of_states(const ItemQuery& query) const;

  Database& database_;
};

}  // namespace db
