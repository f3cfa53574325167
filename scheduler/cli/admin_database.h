// margay admin backup, margay admin verify, margay admin restore
#pragma once

#include <string>

#include "scheduler/cli/context.h"

namespace scheduler::cli {

// Which database is meant; with neither that of the daemon that answers.
struct DatabasePlace {
  std::string config{};  // the site's configuration
  std::string state{};   // the state folder, in its place or over it
  bool is_given() const { return !config.empty() || !state.empty(); }
};

// By the daemon, which writes it with its own rights, or straight from the database that is given.
Exit back_up_database(const Context& context, const DatabasePlace& place, const std::string& file);

// `file` empty: the database itself, by the daemon or as it is given. kFailed when there is a
// problem.
Exit verify_database(const Context& context, const DatabasePlace& place, const std::string& file);

// `without_jobs`: the folder of jobs is gone for good.
Exit restore_database(const Context& context, const DatabasePlace& place, const std::string& file,
                      bool without_jobs);

}  // namespace scheduler::cli
