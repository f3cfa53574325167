// The command line of `margay`: options, help, and the one place that reports errors.
#pragma once

#include <iosfwd>

#include "scheduler/cli/context.h"

namespace scheduler::cli {

// Runs one command and returns the exit code. Never throws.
int run(int argc, const char* const* argv, const Screen& screen, std::ostream& out,
        std::ostream& error);

}  // namespace scheduler::cli
