// What an item may ask of the cluster by itself, over what the site's configuration gives it.
#pragma once

#include <map>
#include <string>

#include "scheduler/config/config.h"
#include "slurm/sbatch/directives.h"

namespace scheduler {

// The options as they are to be kept with the item: known, allowed, canonical, and without
// contradiction to the configuration and its script template. `job-name` is taken as a name for
// people, which ends up in the job's comment. `privileged` is root or the daemon's own user, for
// whom `slurm.user_options` is no limit. Throws slurm::DirectiveError with a sentence for the user,
// and ScriptError when the site's script template is at fault.
slurm::Directives check_item_options(const Config& config,
                                     const std::map<std::string, std::string>& options,
                                     bool privileged);

}  // namespace scheduler
