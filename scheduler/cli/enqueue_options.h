// The options of commands that enqueue micrographs.
#pragma once

#include <CLI/CLI.hpp>

#include "scheduler/cli/items/enqueue.h"

namespace scheduler::cli {

// Adds the options that all of these commands have, except the deadline.
void add_enqueue_options(CLI::App& command, EnqueueOptions& options);
// Adds the options for the source of each micrograph's CTF.
void add_ctf_options(CLI::App& command, CtfOptions& options);

}  // namespace scheduler::cli
