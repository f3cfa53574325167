// Devices that fail everywhere: failed probes in a row, between which no search has passed its
// probe anywhere. Then neither an item nor a single node is to blame. Pure.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "db/records.h"

namespace scheduler {

struct HardwareRow {
  std::vector<std::string> hosts{};  // each once, the first failure first
  std::set<int64_t> items{};
};

// `failures`: those of HostFailureStore::in_row().
HardwareRow hardware_row(const std::vector<db::HostFailure>& failures);

// True when the fault is the site's: devices failed on three hosts; or three items failed on fewer
// hosts, which are too many to keep jobs away from in a cluster of so few `nodes` (0: not known).
bool is_site_wide(const HardwareRow& row, int nodes);

// Why submissions pause. `message`: the newest failure's.
std::string pause_reason_of(const HardwareRow& row, const std::string& message);

}  // namespace scheduler
