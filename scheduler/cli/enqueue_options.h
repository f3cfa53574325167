// The options of commands that enqueue micrographs.
#pragma once

#include <CLI/CLI.hpp>

#include "scheduler/cli/enqueue.h"

namespace scheduler::cli {

// Those that all of them have, but for the deadline.
void add_enqueue_options(CLI::App& command, EnqueueOptions& options);
// Where the CTF of each micrograph comes from.
void add_ctf_options(CLI::App& command, CtfOptions& options);

}  // namespace scheduler::cli
