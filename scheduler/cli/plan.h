// margay plan
#pragma once

#include "scheduler/cli/terminal/context.h"

namespace scheduler::cli {

// Returns kToDo when a job is to be submitted or stopped.
Exit plan(const Context& context);

}  // namespace scheduler::cli
