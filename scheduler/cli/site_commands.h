// The commands about the daemon and its site: margay status, plan, whoami, doctor, pause, resume,
// stop.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "scheduler/cli/daemon_commands.h"
#include "scheduler/cli/ingest_commands.h"

namespace scheduler::cli {

// Holds the values of the commands' options; must outlive the parsed `app`.
class SiteCommands {
 public:
  void add(CLI::App& app, const AddCommand& add_command);

 private:
  void add_pausing(CLI::App& app, const AddCommand& add_command);

  std::string reason_;
  LaneOptions lane_;
};

}  // namespace scheduler::cli
