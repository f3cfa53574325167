// margay admin backup, margay admin verify, margay admin restore
#pragma once

#include <string>

#include "scheduler/cli/terminal/context.h"

namespace scheduler::cli {

// Names the database; if both are empty, it is that of the running daemon.
struct DatabasePlace {
  std::string config{};  // the site's configuration
  std::string state{};   // the state folder, alone or overriding the configuration's
  bool is_given() const { return !config.empty() || !state.empty(); }
};

// Copies the database to `file`: the daemon does it, with its own rights, or this process if
// `place` names the database.
Exit back_up_database(const Context& context, const DatabasePlace& place, const std::string& file);

// Verifies `file`, or if that is empty the database itself, by the daemon or where `place` names
// it. Returns kFailed when there is a problem.
Exit verify_database(const Context& context, const DatabasePlace& place, const std::string& file);

// `without_jobs`: the folder of jobs is lost for good.
Exit restore_database(const Context& context, const DatabasePlace& place, const std::string& file,
                      bool without_jobs);

}  // namespace scheduler::cli
