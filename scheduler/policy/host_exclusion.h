// Which hosts a job is kept away from: a pure function of what failed where. It tells a bad node
// from bad data: many items that fail at one host speak against the host, one item that fails at
// many hosts speaks against the item.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "db/records.h"

namespace scheduler {

struct HostExclusionRules {
  std::chrono::seconds window{86'400};  // older failures are forgotten
  int items_of_host = 3;                // that make a bad host
  int hosts_of_item = 3;                // that make a bad item
};

// Whether a failure of this cause may be the host's.
bool indicates_bad_host(const std::string& cause);

// A list of several ("n[01-04]") blames none of them.
bool is_one_host(const std::string& host);

// Never more than a quarter of the `nodes` that there are; none when their number is not known.
// First the hosts at which this item failed, then those at which most items did.
std::set<std::string> excluded_hosts(const std::vector<db::HostFailure>& failures, int64_t item_id,
                                     int64_t now, int nodes, const HostExclusionRules& rules);

}  // namespace scheduler
