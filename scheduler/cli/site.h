// margay render, margay doctor
#pragma once

#include <string>

#include "scheduler/cli/terminal/context.h"

namespace scheduler::cli {

struct RenderOptions {
  std::string shape;       // empty: the item's own
  bool test_only = false;  // also ask Slurm whether it would accept the script
};
Exit render(const Context& context, int64_t item, const RenderOptions& options);

// Returns kFailed when a finding is bad.
Exit doctor(const Context& context);

}  // namespace scheduler::cli
