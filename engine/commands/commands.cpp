#include "engine/commands/commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

namespace engine {

void print_message(const std::string& sentence) {
  std::cerr << "margay-engine: " + sentence + "\n" << std::flush;
}

int run_command_line(int argc, char** argv) {
  CLI::App app("2D template matching of one cryo-EM micrograph with one template.",
               "margay-engine");
  app.set_version_flag("--version", std::string("margay-engine ") + MARGAY_VERSION);
  app.require_subcommand(1);
  app.footer("Run 'margay-engine COMMAND --help' for the options of a subcommand.");
  const std::vector<Command> commands = {add_match(app, {argv, argv + argc}),
                                         add_peaks(app),
                                         add_plan(app),
                                         add_project(app),
                                         add_simulate(app),
                                         add_selftest(app),
                                         add_scale(app),
                                         add_info(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 throws help and version, too, with status 0, and prints them in exit().
    if (error.get_exit_code() == 0) return app.exit(error);
    throw UsageError(std::string(error.what()) + " (see --help)");
  }
  const CLI::App* const chosen = app.get_subcommands().front();
  const auto command = std::find_if(commands.begin(), commands.end(),
                                    [&](const Command& each) { return each.parser == chosen; });
  return static_cast<int>(command->run());
}

}  // namespace engine
