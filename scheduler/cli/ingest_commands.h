// The commands that enqueue what other programs list or write: `margay import`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "scheduler/cli/context.h"
#include "scheduler/cli/exit.h"
#include "scheduler/cli/import.h"

namespace scheduler::cli {

// Adds a command that talks to the daemon: its parent, name, description, example and what it does.
using AddCommand =
    std::function<CLI::App*(CLI::App&, const std::string&, const std::string&, const std::string&,
                            const std::function<Exit(const Context&)>&)>;

// Holds the values of their options; must outlive the parsed `app`.
class IngestCommands {
 public:
  void add(CLI::App& app, const AddCommand& add_command);

 private:
  void add_import(CLI::App& app, const AddCommand& add_command);

  ImportOptions import_;
  std::string finish_by_;
};

}  // namespace scheduler::cli
