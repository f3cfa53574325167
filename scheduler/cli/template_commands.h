// The commands of `margay template`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "scheduler/cli/ingest_commands.h"
#include "scheduler/cli/items/templates.h"

namespace scheduler::cli {

// Holds the values of the commands' options; must outlive the parsed `app`.
class TemplateCommands {
 public:
  void add(CLI::App& app, const AddCommand& add_command);

 private:
  void add_registering(CLI::App& parent, const AddCommand& add_command);
  void add_changing(CLI::App& parent, const AddCommand& add_command);

  TemplateOptions template_;
  std::string name_;
  std::string new_name_;
  bool settings_ = false;
};

}  // namespace scheduler::cli
