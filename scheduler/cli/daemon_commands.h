// margay status, pause, resume, stop
#pragma once

#include <chrono>
#include <string>

#include "scheduler/cli/context.h"

namespace scheduler::cli {

Exit status(const Context& context);
Exit pause(const Context& context, const std::string& reason);
Exit resume(const Context& context);
// Returns once the daemon has ended. Throws Failure (kTimedOut) when it has not after `timeout`.
Exit stop(const Context& context, std::chrono::milliseconds timeout);

}  // namespace scheduler::cli
