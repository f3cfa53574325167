// The commands of `margay admin` for the database.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "scheduler/cli/admin_database.h"
#include "scheduler/cli/ingest_commands.h"

namespace scheduler::cli {

// The command `margay admin` itself; the first call adds it to `app`.
CLI::App& admin_command(CLI::App& app);

// Holds the values of the commands' options; must outlive the parsed `app`.
class AdminDatabaseCommands {
 public:
  void add(CLI::App& app, const AddCommand& add_command);

 private:
  void add_place(CLI::App& command);

  DatabasePlace place_;
  std::string file_;
  bool without_jobs_ = false;
};

}  // namespace scheduler::cli
