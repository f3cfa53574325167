#include "db/history.h"

#include "db/table.h"

namespace db {
namespace {

const Table<ArrivedItem> kArrived("items", {{"id", &ArrivedItem::id},
                                            {"priority", &ArrivedItem::priority},
                                            {"state", &ArrivedItem::state},
                                            {"created", &ArrivedItem::created},
                                            {"finish_by", &ArrivedItem::finish_by},
                                            {"template_id", &ArrivedItem::template_id},
                                            {"micrograph_width", &ArrivedItem::micrograph_width},
                                            {"micrograph_height", &ArrivedItem::micrograph_height},
                                            {"group_name", &ArrivedItem::group}});

const Table<SearchJob> kJobs("attempts", {{"item_id", &SearchJob::item_id},
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
