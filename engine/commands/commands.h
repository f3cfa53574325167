// The subcommands of margay-engine. Each has one file: its options beside what it does. To add one:
// that file (add_command of options.h) and its line in CMakeLists.txt, its lines here and in
// run_command_line, in engine_program_test and in docs/engine.md.
#pragma once

#include <string>
#include <vector>

#include "engine/error.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11 calls it so
class App;
}

namespace engine {

// Each adds its subcommand to the program's parser. The subcommand runs at the end of parsing,
// where the command line names it: it throws Error, or sets the exit code. Results go to stdout,
// messages to stderr. `app` and `code` must outlive the parsing. `arguments` is argv, from which
// `match` makes the command lines of local ranks.
void add_match(CLI::App& app, ExitCode& code, const std::vector<std::string>& arguments);
void add_peaks(CLI::App& app, ExitCode& code);
void add_plan(CLI::App& app, ExitCode& code);
void add_project(CLI::App& app, ExitCode& code);
void add_simulate(CLI::App& app, ExitCode& code);
void add_selftest(CLI::App& app, ExitCode& code);
void add_scale(CLI::App& app, ExitCode& code);
void add_info(CLI::App& app, ExitCode& code);
void add_init(CLI::App& app, ExitCode& code);

// Parses the command line and runs the subcommand that it names. Returns the exit code; throws
// UsageError for a command line that is not understood, and what the subcommand throws.
int run_command_line(int argc, char** argv);

// Prints a sentence for the user to stderr, behind the program's name.
void print_message(const std::string& sentence);

}  // namespace engine
