// margay logs
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/cli/terminal/context.h"

namespace scheduler::cli {

struct LogOptions {
  std::optional<int> attempt;  // default: the newest
  bool follow = false;         // continue until the attempt has ended; of one item only
  std::chrono::milliseconds poll{1000};
};
// Prints each item's log; of several, each below a line with the item's number.
Exit logs(const Context& context, const std::vector<int64_t>& items, const LogOptions& options);

}  // namespace scheduler::cli
