// margayd from its options to its end.
#pragma once

#include <string>

#include "scheduler/process/options.h"

namespace scheduler {

// Returns the exit code (docs/daemon.md).
int run(const Options& options);

// Prints on standard error why margayd does not start, and returns `code`.
int refuse(const std::string& why, int code);

// Returns `code`, or the code of a failure when the output could not be written.
int end_with(int code);

}  // namespace scheduler
