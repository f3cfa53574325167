// margay status, margay stop
#pragma once

#include <chrono>

#include "scheduler/cli/context.h"

namespace scheduler::cli {

Exit status(const Context& context);
// Returns when nobody listens any more; kTimedOut after `patience`.
Exit stop(const Context& context, std::chrono::milliseconds patience);

}  // namespace scheduler::cli
