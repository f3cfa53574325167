// Commands that change items: margay promote, demote, finish-by, hold, release, cancel, retry,
// remove.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/cli/terminal/context.h"

namespace scheduler::cli {

struct Change {
  std::string action;                            // the API's name
  std::string priority;                          // for promote, demote and retry
  std::optional<int64_t> finish_by{};            // for finish-by; 0: none
  std::map<std::string, std::string> options{};  // for retry: its options for Slurm
  bool drop_options = false;                     // for retry: discard the item's own options
  // For retry: the micrograph is passed open, so that the item gets it as it is now, if the caller
  // can read it.
  bool opens_micrograph = false;
  bool results = false;  // for remove: remove the files of the results, too
  bool dry_run = false;  // only report what would be changed
};

// The states of items that such a change may affect, as in the API's query.
std::string states_for(const std::string& action);

// Sends one request for many items and prints the outcome of each. Returns kPartial when some were
// refused.
Exit change(const Context& context, const Change& change, const std::vector<int64_t>& items);

}  // namespace scheduler::cli
