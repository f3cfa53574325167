// Which hosts a job must not use: a pure function of what failed where. Many items that fail at one
// host indicate a bad node; one item that fails at many hosts indicates bad data.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "db/records.h"

namespace scheduler {

struct HostExclusionRules {
  std::chrono::seconds window{86'400};  // older failures do not count
  int items_of_host = 3;                // failed items that make a bad host
  int hosts_of_item = 3;                // hosts with failures that make a bad item
};

// True for a cause of failure that the host may be responsible for.
bool indicates_bad_host(const std::string& cause);

// False for Slurm's lists of several hosts ("n[01-04]"), which do not identify one host.
bool is_one_host(const std::string& host);

// How many of the cluster's nodes may be excluded at once: a quarter; none when their number is not
// known (0).
int most_excluded(int nodes);

// The hosts to exclude from the next job of this item: first those where the item itself failed,
// then those where most items did. At most most_excluded(nodes). `now` is in seconds since the
// epoch.
std::set<std::string> excluded_hosts(const std::vector<db::HostFailure>& failures, int64_t item_id,
                                     int64_t now, int nodes, const HostExclusionRules& rules);

}  // namespace scheduler
