// The commands of `margay admin` that are about the database.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "scheduler/cli/admin_database.h"
#include "scheduler/cli/ingest_commands.h"

namespace scheduler::cli {

// `margay admin` itself, made by whoever adds the first of its commands.
CLI::App& admin_command(CLI::App& app);

// Holds the values of their options; must outlive the parsed `app`.
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
