// margay status, whoami, pause, resume, stop
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "scheduler/cli/terminal/context.h"

namespace scheduler::cli {

Exit status(const Context& context);
// The caller's user and groups as the daemon knows them, and what this user may do.
Exit whoami(const Context& context);
// `lane` has account, partition, qos or reservation; empty values are ignored. Without any, the
// command applies to the whole queue.
using LaneOptions = std::map<std::string, std::string>;
Exit pause(const Context& context, const std::string& reason, const LaneOptions& lane);
Exit resume(const Context& context, const LaneOptions& lane);
// Returns once the daemon has ended. Throws Failure (kTimedOut) when it has not after `timeout`.
Exit stop(const Context& context, std::chrono::milliseconds timeout);

}  // namespace scheduler::cli
