// What `margay doctor` says of a Slurm that is used through its commands.
#pragma once

#include <vector>

#include "slurm/cli_session.h"
#include "slurm/cluster.h"

namespace slurm {

std::vector<Finding> examine_cli(CliSession& session, const Examination& what);

}  // namespace slurm
