// The subcommands of margay-engine. Each has one file: its options beside what it does.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/error.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11 calls it so
class App;
}

namespace engine {

struct Command {
  const CLI::App* parser = nullptr;
  // Does what the parsed options ask for and returns the exit code, or throws Error. Results go to
  // stdout, messages to stderr. To be called after parsing, once.
  std::function<ExitCode()> run;
};

// Each adds its subcommand to the program's parser, which must outlive the Command.
// `arguments` is argv, from which `match` makes the command lines of local ranks.
Command add_match(CLI::App& app, const std::vector<std::string>& arguments);
Command add_peaks(CLI::App& app);
Command add_plan(CLI::App& app);
Command add_project(CLI::App& app);
Command add_simulate(CLI::App& app);
Command add_selftest(CLI::App& app);
Command add_scale(CLI::App& app);
Command add_info(CLI::App& app);

// Parses the command line and runs the subcommand that it names. Returns the exit code; throws
// UsageError for a command line that is not understood, and what the subcommand throws.
int run_command_line(int argc, char** argv);

// Prints a sentence for the user to stderr, behind the program's name.
void print_message(const std::string& sentence);

}  // namespace engine
