#include "scheduler/process/options.h"

#include "base/cli_pages.h"

namespace scheduler {

void add_options(CLI::App& app, Options& options) {
  app.description(
      "Keep the queue of micrographs, run their searches and serve the `margay` command.\n"
      "Runs in the foreground; SIGTERM stops it and leaves its jobs running, SIGHUP makes it read "
      "its configuration again.");
  app.name("margayd");
  app.add_option(
         "--state", options.state,
         "State folder: database, socket and jobs; on a local disk [default, without --config: "
         "~/.local/state/margay]")
      ->type_name("DIR");
  app.add_option("--config", options.config, "Site configuration (YAML)")->type_name("FILE");
  CLI::Option* doctor = app.add_flag(
      "--doctor", options.doctor,
      "Check the installation and exit, even where no daemon can start yet; exits with 1 when "
      "a check fails");
  CLI::Option* backup =
      app.add_option("--backup", options.backup,
                     "Copy the database to this file, which must not exist, and exit; also while a "
                     "daemon runs")
          ->type_name("FILE")
          ->excludes(doctor);
  CLI::Option* init = app.add_flag(
      "--init", options.init,
      "Write a site configuration to begin with and exit: for the Slurm whose commands answer "
      "here, else for this machine");
  init->excludes(doctor)->excludes(backup);
  app.add_option("FILE", options.init_file, "File that --init writes, which must not exist")
      ->type_name("")
      ->capture_default_str()
      ->needs(init);
  base::add_page_options(app, 8, {"margay(1)", "margay-engine(1)"});
  app.set_version_flag("-V,--version", std::string("margayd ") + MARGAY_VERSION);
  app.footer(
      "Examples:\n  margayd\n  margayd --init margayd.yaml\n  margayd --config "
      "/etc/margay/margayd.yaml");
}

std::string without_init(const std::string& name) {
  const bool is_file = name.find_first_of("/.") != std::string::npos;
  return "'" + name + "' is taken only with --init; " +
         (is_file ? "give a configuration by '--config " + name + "'"
                  : "commands are margay's: 'margay " + name + "'");
}

}  // namespace scheduler
