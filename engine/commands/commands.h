// The subcommands of margay-engine. Each has one file with its options and what it does. A new one
// needs such a file (add_command() of options.h), its line in CMakeLists.txt, and its lines in this
// header, run_command_line(), engine_program_test and docs/engine.md.
#pragma once

#include <string>
#include <vector>

#include "engine/error.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11 calls it so
class App;
}

namespace engine {

// Each function adds its subcommand to the program's parser. The subcommand that the command line
// names runs at the end of parsing, and throws Error or sets `code`. Results go to stdout, messages
// to stderr. `app` and `code` must outlive the parsing. `arguments` is argv, from which `match`
// makes the command lines of local ranks.
void add_match(CLI::App& app, ExitCode& code, const std::vector<std::string>& arguments);
void add_peaks(CLI::App& app, ExitCode& code);
void add_plan(CLI::App& app, ExitCode& code);
void add_project(CLI::App& app, ExitCode& code);
void add_simulate(CLI::App& app, ExitCode& code);
void add_selftest(CLI::App& app, ExitCode& code);
void add_scale(CLI::App& app, ExitCode& code);
void add_info(CLI::App& app, ExitCode& code);
void add_init(CLI::App& app, ExitCode& code);

// Parses the command line and runs the subcommand that it names. Returns the exit code. Throws
// UsageError for a command line that is not understood, and whatever the subcommand throws.
int run_command_line(int argc, char** argv);

// Prints a sentence for the user to stderr, behind the program's name.
void print_message(const std::string& sentence);

}  // namespace engine
