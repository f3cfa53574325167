// margay explain: why items wait, run or have ended, and what the plan means for unfinished ones.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/cli/terminal/context.h"

namespace scheduler::cli {

Exit explain(const Context& context, const std::vector<int64_t>& items);

}  // namespace scheduler::cli
