#include "scheduler/states/hardware_row.h"

#include <algorithm>

#include "base/text.h"
#include "scheduler/states/host_exclusion.h"

namespace scheduler {
namespace {

constexpr size_t kHostsOfRow = 3;
constexpr size_t kItemsOfRow = 3;

}  // namespace

HardwareRow hardware_row(const std::vector<db::HostFailure>& failures) {
  HardwareRow row;
  for (const db::HostFailure& failure : failures) {
    const bool known =
        std::find(row.hosts.begin(), row.hosts.end(), failure.host) != row.hosts.end();
    if (!known) row.hosts.push_back(failure.host);
    row.items.insert(failure.item_id);
  }
  return row;
}

bool is_site_wide(const HardwareRow& row, int nodes) {
  if (row.hosts.size() >= kHostsOfRow) return true;
  return row.items.size() >= kItemsOfRow &&
         static_cast<int>(row.hosts.size()) > most_excluded(nodes);
}

std::string pause_reason_of(const HardwareRow& row, const std::string& message) {
  const size_t named = std::min(row.hosts.size(), kHostsOfRow);
  const std::vector<std::string> first(row.hosts.begin(),
                                       row.hosts.begin() + static_cast<std::ptrdiff_t>(named));
  return "the device fails on one node after another (" + base::joined(first, ", ") +
         (row.hosts.size() > named ? " and others" : "") + "): " + message +
         "; check the GPUs and their driver on these nodes; one search at a time tries again, and "
         "nothing counts against the items";
}

}  // namespace scheduler
