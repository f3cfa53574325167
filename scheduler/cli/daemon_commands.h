// margay status, margay stop
#pragma once

#include <chrono>

#include "scheduler/cli/context.h"

namespace scheduler::cli {

Exit status(const Context& context);
// Returns once the daemon has ended. Throws Failure (kTimedOut) when it has not after `timeout`.
Exit stop(const Context& context, std::chrono::milliseconds timeout);

}  // namespace scheduler::cli
