#include "engine/commands/commands.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "base/cli_pages.h"
#include "base/output.h"

namespace engine {

void print_message(const std::string& sentence) {
  std::cerr << "margay-engine: " + sentence + "\n" << std::flush;
}

namespace {

void check_output() {
  if (!base::flush_output()) throw InputError(base::kOutputLost);
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app("2D template matching of one cryo-EM micrograph with one template.",
               "margay-engine");
  app.set_version_flag("-V,--version", std::string("margay-engine ") + MARGAY_VERSION);
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
    if (error.get_exit_code() == 0) {
      const int shown = app.exit(error);
      check_output();
      return shown;
    }
    throw UsageError(std::string(error.what()) + " (see --help)");
  }
  // The result of a search is its files: a job's log on a full disk does not make it a failure.
  if (!app.got_subcommand("match")) check_output();
  return static_cast<int>(code);
}

}  // namespace engine
