// margayd: main() of the daemon.
#include <CLI/CLI.hpp>

#include "scheduler/cli/terminal/arguments.h"
#include "scheduler/process/options.h"
#include "scheduler/process/process.h"

int main(int argc, char** argv) {
  CLI::App app;
  scheduler::Options options;
  scheduler::add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    const int code = app.exit(asked);
    return scheduler::end_with(code);
  } catch (const CLI::RequiresError&) {
    const CLI::RequiresError named(scheduler::without_init(options.init_file),
                                   CLI::ExitCodes::RequiresError);
    return scheduler::refuse(scheduler::cli::usage_message(app, named), 2);
  } catch (const CLI::ParseError& error) {
    return scheduler::refuse(scheduler::cli::usage_message(app, error), 2);
  }
  return scheduler::run(options);
}
