// What `margay doctor` says of a Slurm that is used through its commands.
#pragma once

#include <vector>

#include "slurm/cluster.h"
#include "slurm/commands/cli_session.h"

namespace slurm {

std::vector<Finding> examine_cli(CliSession& session, const Examination& what);

}  // namespace slurm
