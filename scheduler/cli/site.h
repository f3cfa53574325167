// margay render, margay doctor
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/cli/terminal/context.h"

namespace scheduler::cli {

struct RenderOptions {
  std::string shape;       // empty: the item's own
  bool test_only = false;  // also ask Slurm whether it would accept the script
};
// Throws Failure (usage) for more than one item, and (not found) for none.
Exit render(const Context& context, const std::vector<int64_t>& items,
            const RenderOptions& options);

// Returns kFailed when a finding is bad.
Exit doctor(const Context& context);

}  // namespace scheduler::cli
