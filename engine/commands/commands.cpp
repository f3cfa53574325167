#include "engine/commands/commands.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "base/cli_pages.h"

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
  ExitCode code = ExitCode::kDone;
  add_match(app, code, {argv, argv + argc});
  for (const auto add : {add_init, add_peaks, add_plan, add_project, add_simulate, add_selftest,
                         add_scale, add_info}) {
    add(app, code);
  }
  base::add_page_options(app, 1, {"margay(1)", "margay-job(1)"});
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 throws help and version, too, with status 0, and prints them in exit().
    if (error.get_exit_code() == 0) return app.exit(error);
    throw UsageError(std::string(error.what()) + " (see --help)");
  }
  return static_cast<int>(code);
}

}  // namespace engine
