#include "scheduler/states/host_exclusion.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "scheduler/states/causes.h"

namespace scheduler {
namespace {

// The failures at one host.
struct Record {
  std::set<int64_t> items{};  // without items that fail everywhere
  bool own = false;           // the item in question failed here
  int64_t newest = 0;
};

// A dead node is no fault of the item, and a missing engine is missing everywhere: neither is a
// reason to try another host.
bool asks_for_another_host(const std::string& cause) {
  return cause == "unknown" || cause == "hardware" || cause == kStalled;
}

std::set<int64_t> items_that_fail_everywhere(const std::vector<db::HostFailure>& failures,
                                             int64_t since, const HostExclusionRules& rules) {
  std::map<int64_t, std::set<std::string>> hosts;
  for (const db::HostFailure& failure : failures) {
    if (failure.time >= since) hosts[failure.item_id].insert(failure.host);
  }
  std::set<int64_t> items;
  for (const auto& [item, where] : hosts) {
    if (static_cast<int>(where.size()) >= rules.hosts_of_item) items.insert(item);
  }
  return items;
}

}  // namespace

bool indicates_bad_host(const std::string& cause) {
  return asks_for_another_host(cause) || cause == "launch" || cause == "node_failed";
}

bool is_one_host(const std::string& host) {
  return !host.empty() && host.find_first_of("[], ") == std::string::npos;
}

int most_excluded(int nodes) { return nodes / 4; }

std::set<std::string> excluded_hosts(const std::vector<db::HostFailure>& failures, int64_t item_id,
                                     int64_t now, int nodes, const HostExclusionRules& rules) {
  const int64_t since = now - rules.window.count();
  const std::set<int64_t> bad_items = items_that_fail_everywhere(failures, since, rules);
  std::map<std::string, Record> records;
  for (const db::HostFailure& failure : failures) {
    if (failure.time < since || bad_items.count(failure.item_id) != 0) continue;
    Record& record = records[failure.host];
    record.items.insert(failure.item_id);
    record.newest = std::max(record.newest, failure.time);
    if (failure.item_id == item_id && asks_for_another_host(failure.cause)) record.own = true;
  }
  std::vector<std::tuple<bool, size_t, int64_t, std::string>> worst;
  for (const auto& [host, record] : records) {
    const bool bad = static_cast<int>(record.items.size()) >= rules.items_of_host;
    if (record.own || bad) worst.emplace_back(record.own, record.items.size(), record.newest, host);
  }
  std::sort(worst.rbegin(), worst.rend());
  std::set<std::string> excluded;
  for (const auto& [own, items, newest, host] : worst) {
    if (static_cast<int>(excluded.size()) >= most_excluded(nodes)) break;
    excluded.insert(host);
  }
  return excluded;
}

}  // namespace scheduler
