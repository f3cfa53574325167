// Whether users who are in the group of the socket, and not in the daemon's, reach the results of
// their items.
#pragma once

#include "scheduler/config/config.h"
#include "slurm/site_facts.h"

namespace scheduler {

// Says nothing where the configuration names no group of the socket: its users are then in the
// daemon's own group.
void examine_readers(const Config& config, slurm::Findings& findings);

}  // namespace scheduler
