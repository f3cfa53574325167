// Detects devices that fail everywhere: a row of failed probes without any search that passed its
// probe. Then neither an item nor a single node is to blame. Pure.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "db/records.h"

namespace scheduler {

struct HardwareRow {
  std::vector<std::string> hosts{};  // each once, in the order of their first failures
  std::set<int64_t> items{};
};

// `failures` come from HostFailureStore::in_row().
HardwareRow hardware_row(const std::vector<db::HostFailure>& failures);

// True when the fault is the site's: devices failed on three hosts; or three items failed on fewer
// hosts, but on more than may be excluded in a cluster of `nodes` nodes (0: not known).
bool is_site_wide(const HardwareRow& row, int nodes);

// Why submissions pause. `message` is the newest failure's.
std::string pause_reason_of(const HardwareRow& row, const std::string& message);

}  // namespace scheduler
