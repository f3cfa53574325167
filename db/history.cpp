#include "db/history.h"

#include "db/table.h"

namespace db {
namespace {

// Removed ones arrived, too.
constexpr const char* kAllItems =
    "(SELECT id, priority, state, created, finish_by, template_id, micrograph_width, "
    "micrograph_height, group_name FROM items UNION ALL "
    "SELECT id, priority, state, created, finish_by, template_id, micrograph_width, "
    "micrograph_height, group_name FROM removed_items)";
constexpr const char* kAllAttempts =
    "(SELECT item_id, number, state, started, ended, nodes, gpus_per_node FROM attempts UNION ALL "
    "SELECT item_id, number, state, started, ended, nodes, gpus_per_node FROM removed_attempts)";

const Table<ArrivedItem> kArrived(kAllItems,
                                  {{"id", &ArrivedItem::id},
                                   {"priority", &ArrivedItem::priority},
                                   {"state", &ArrivedItem::state},
                                   {"created", &ArrivedItem::created},
                                   {"finish_by", &ArrivedItem::finish_by},
                                   {"template_id", &ArrivedItem::template_id},
                                   {"micrograph_width", &ArrivedItem::micrograph_width},
                                   {"micrograph_height", &ArrivedItem::micrograph_height},
                                   {"group_name", &ArrivedItem::group}});

const Table<SearchJob> kJobs(kAllAttempts, {{"item_id", &SearchJob::item_id},
                                            {"started", &SearchJob::started},
                                            {"ended", &SearchJob::ended},
                                            {"nodes", &SearchJob::nodes},
                                            {"gpus_per_node", &SearchJob::gpus_per_node}});

}  // namespace

std::vector<ArrivedItem> HistoryStore::arrived(int64_t since, int64_t after, int64_t most) const {
  return kArrived.all(database_,
                      kArrived.readable() + "AND id > ? AND created >= ? ORDER BY id LIMIT ?",
                      after, since, most);
}

std::vector<SearchJob> HistoryStore::jobs(int64_t first_item, int64_t last_item) const {
  return kJobs.all(database_,
                   "WHERE item_id BETWEEN ? AND ? AND state IN ('DONE', 'CHECKPOINTED') "
                   "ORDER BY item_id, number",
                   first_item, last_item);
}

}  // namespace db
