#include "db/urgent_tokens.h"

#include "db/table.h"

namespace db {
namespace {

const Table<UrgentToken> kTokens("urgent_tokens", {{"id", &UrgentToken::id, Use::kKey},
                                                   {"group_name", &UrgentToken::group},
                                                   {"time", &UrgentToken::time},
                                                   {"item_id", &UrgentToken::item_id},
                                                   {"uid", &UrgentToken::uid},
                                                   {"who", &UrgentToken::who}});

}  // namespace

void UrgentTokenStore::insert(const UrgentToken& token) { kTokens.insert(database_, token); }

std::vector<int64_t> UrgentTokenStore::taken_after(const std::string& group, int64_t time) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(),
                  "SELECT time FROM urgent_tokens WHERE group_name = ? AND time > ? ORDER BY time");
  query.bind(group).bind(time);
  std::vector<int64_t> times;
  while (query.step()) times.push_back(query.integer(0));
  return times;
}

int64_t UrgentTokenStore::newest_of_item(int64_t item_id) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(),
                  "SELECT coalesce(max(time), 0) FROM urgent_tokens WHERE item_id = ?");
  query.bind(item_id);
  query.step();
  return query.integer(0);
}

}  // namespace db
