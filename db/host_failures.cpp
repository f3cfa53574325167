#include "db/host_failures.h"

#include "db/table.h"

namespace db {
namespace {

const Table<HostFailure> kFailures("host_failures", {{"host", &HostFailure::host},
                                                     {"item_id", &HostFailure::item_id},
                                                     {"attempt_id", &HostFailure::attempt_id},
                                                     {"cause", &HostFailure::cause},
                                                     {"time", &HostFailure::time}});

}  // namespace

void HostFailureStore::insert(const HostFailure& failure) {
  kFailures.insert(database_, failure, "INSERT OR IGNORE");
}

std::vector<HostFailure> HostFailureStore::since(int64_t time) const {
  return kFailures.all(database_, "WHERE time >= ? ORDER BY time, id", time);
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
