// The changes of items: margay promote, demote, finish-by, hold, release, cancel, retry, remove.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/cli/context.h"

namespace scheduler::cli {

struct Change {
  std::string action;                            // the API's name
  std::string priority;                          // for promote, demote and retry
  std::optional<int64_t> finish_by{};            // for finish-by; 0: none
  std::map<std::string, std::string> options{};  // for retry: what it asks of Slurm
  bool drop_options = false;                     // for retry
  // For retry: the daemon takes the micrograph as it is now, if the caller can read it.
  bool opens_micrograph = false;
  bool results = false;  // for remove: the files of the results, too
  bool dry_run = false;  // only says what would be changed
};

// The states of items that such a change may have an effect on, as the API's query has them.
std::string states_for(const std::string& action);

// One request for many items, and what became of each. kPartial when some were refused.
Exit change(const Context& context, const Change& change, const std::vector<int64_t>& items);

}  // namespace scheduler::cli
