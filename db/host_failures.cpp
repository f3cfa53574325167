#include "db/host_failures.h"

#include "db/table.h"

namespace db {
namespace {

const Table<HostFailure> kFailures("host_failures", {{"host", &HostFailure::host},
                                                     {"item_id", &HostFailure::item_id},
                                                     {"attempt_id", &HostFailure::attempt_id},
                                                     {"cause", &HostFailure::cause},
                                                     {"time", &HostFailure::time},
                                                     {"row_start", &HostFailure::row_start}});

}  // namespace

void HostFailureStore::insert(const HostFailure& failure) {
  kFailures.insert(database_, failure, "INSERT OR IGNORE");
}

std::vector<HostFailure> HostFailureStore::since(int64_t time) const {
  return kFailures.all(database_, "WHERE time >= ? ORDER BY time, id", time);
}

std::vector<HostFailure> HostFailureStore::in_row() const {
  return kFailures.all(database_, "WHERE row_start > 0 ORDER BY row_start, id");
}

void HostFailureStore::end_row(int64_t time) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(),
            "UPDATE host_failures SET row_start = 0 WHERE row_start > 0 AND row_start <= ?")
      .bind(time)
      .run();
}

void HostFailureStore::limit_times(int64_t now) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(),
            "UPDATE host_failures SET time = min(time, ?1), row_start = min(row_start, ?1) "
            "WHERE time > ?1 OR row_start > ?1")
      .bind(now)
      .run();
}

void HostFailureStore::remove_before(int64_t time) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(), "DELETE FROM host_failures WHERE time < ? AND row_start = 0")
      .bind(time)
      .run();
}

void HostFailureStore::remove_hosts(const std::set<std::string>& hosts) {
  Transaction transaction(database_);
  for (const std::string& host : hosts) {
    Statement(database_.connection(), "DELETE FROM host_failures WHERE host = ?").bind(host).run();
  }
  transaction.commit();
}

}  // namespace db
