// What `margay doctor` says about a Slurm behind slurmrestd.
#pragma once

#include <vector>

#include "slurm/cluster.h"
#include "slurm/rest/rest_session.h"

namespace slurm {

std::vector<Finding> examine_rest(RestSession& session, const Examination& what);

}  // namespace slurm
