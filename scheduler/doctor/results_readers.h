// Checks whether users in the socket's group, but not in the daemon's, can reach the results of
// their items.
#pragma once

#include "scheduler/config/config.h"
#include "slurm/site_facts.h"

namespace scheduler {

// Adds nothing when the configuration names no group for the socket: its users are then in the
// daemon's own group.
void examine_readers(const Config& config, slurm::Findings& findings);

}  // namespace scheduler
