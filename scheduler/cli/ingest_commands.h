// The commands that enqueue what other programs list or write: `margay import`, `margay watch`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "scheduler/cli/items/import.h"
#include "scheduler/cli/items/watch.h"
#include "scheduler/cli/terminal/context.h"
#include "scheduler/cli/terminal/exit.h"

namespace scheduler::cli {

// Adds a command that talks to the daemon. The arguments are its parent, name, description, example
// and function.
using AddCommand =
    std::function<CLI::App*(CLI::App&, const std::string&, const std::string&, const std::string&,
                            const std::function<Exit(const Context&)>&)>;

// Holds the values of the commands' options; must outlive the parsed `app`.
class IngestCommands {
 public:
  void add(CLI::App& app, const AddCommand& add_command);

 private:
  void add_import(CLI::App& app, const AddCommand& add_command);

  void add_watch_commands(CLI::App& app, const AddCommand& add_command);
  void add_watches_file(CLI::App& command);
  void add_watching(CLI::App& parent, const AddCommand& add_command);

  ImportOptions import_;
  WatchOptions watch_{.file = default_watches_file()};
  std::string settle_ = "5s";
  std::string rescan_ = "10s";
  std::string finish_by_;
};

}  // namespace scheduler::cli
