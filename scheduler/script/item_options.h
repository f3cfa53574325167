// Options with which an item may override the site's configuration.
#pragma once

#include <map>
#include <string>

#include "scheduler/config/config.h"
#include "slurm/sbatch/directives.h"

namespace scheduler {

// Returns the options to store with the item: known, allowed, canonical, and consistent with the
// configuration and its script template. `job-name` is a name for people, which goes into the job's
// comment. `privileged` is root or the daemon's own user, whom `slurm.user_options` does not limit.
// Throws slurm::DirectiveError with a sentence for the user, and ScriptError when the site's script
// template is at fault.
slurm::Directives check_item_options(const Config& config,
                                     const std::map<std::string, std::string>& options,
                                     bool privileged);

}  // namespace scheduler
