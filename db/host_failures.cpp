#include "db/host_failures.h"

namespace db {

void HostFailureStore::insert(const HostFailure& failure) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(),
            "INSERT OR IGNORE INTO host_failures (host, item_id, attempt_id, cause, time) "
            "VALUES (?, ?, ?, ?, ?)")
      .bind(failure.host)
      .bind(failure.item_id)
      .bind(failure.attempt_id)
      .bind(failure.cause)
      .bind(failure.time)
      .run();
}

std::vector<HostFailure> HostFailureStore::since(int64_t time) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(),
                  "SELECT host, item_id, attempt_id, cause, time FROM host_failures "
                  "WHERE time >= ? ORDER BY time, id");
  query.bind(time);
  std::vector<HostFailure> failures;
  while (query.step()) {
    failures.push_back({.host = query.text(0),
                        .item_id = query.integer(1),
                        .attempt_id = query.integer(2),
                        .cause = query.text(3),
                        .time = query.integer(4)});
  }
  return failures;
}

void HostFailureStore::remove_before(int64_t time) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(), "DELETE FROM host_failures WHERE time < ?").bind(time).run();
}

void HostFailureStore::remove_hosts(const std::set<std::string>& hosts) {
  Transaction transaction(database_);
  for (const std::string& host : hosts) {
    Statement(database_.connection(), "DELETE FROM host_failures WHERE host = ?").bind(host).run();
  }
  transaction.commit();
}

}  // namespace db
