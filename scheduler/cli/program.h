// The command line of `margay`: options, help, and the one place that reports errors.
//
// A new subcommand is a function in a file of its own and an entry in program.cpp, or in the file
// of its group (admin_commands.cpp, ingest_commands.cpp, site_commands.cpp, template_commands.cpp);
// its file is listed in scheduler/CMakeLists.txt, its name in the list of JSON documents of
// cli_test, and options that it shares are in command_options.cpp. Its help, its completion and its
// part of the manual page come from the entry. A new request to the daemon is a route in
// scheduler/api/service.cpp and in docs/api.md.
#pragma once

#include <iosfwd>

#include "scheduler/cli/terminal/context.h"

namespace scheduler::cli {

// Runs one command and returns the exit code. Never throws.
int run(int argc, const char* const* argv, const Screen& screen, std::ostream& out,
        std::ostream& error);

}  // namespace scheduler::cli
