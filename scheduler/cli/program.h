// The command line of `margay`: options, help, and the one place where its errors end.
#pragma once

#include <iosfwd>

#include "scheduler/cli/context.h"

namespace scheduler::cli {

// The exit code.
int run(int argc, const char* const* argv, const Screen& screen, std::ostream& out,
        std::ostream& error);

}  // namespace scheduler::cli
