// margay admin gc
#pragma once

#include <CLI/CLI.hpp>

#include "scheduler/cli/ingest_commands.h"

namespace scheduler::cli {

// Holds the value of the command's option; must outlive the parsed app.
class GcCommand {
 public:
  // Adds the command to `margay admin`, which is made if it does not exist yet.
  void add(CLI::App& app, const AddCommand& add_command);

 private:
  bool dry_run_ = false;
};

// Removes what retention would remove now, and folders that no record names, and prints what was
// freed.
Exit collect_garbage(const Context& context, bool dry_run);

}  // namespace scheduler::cli
