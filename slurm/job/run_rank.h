// margay-job rank: wraps one rank of the engine, or starts all ranks of its task, and records how
// and where each that failed ended.
#pragma once

#include "slurm/job/job_arguments.h"

namespace slurm {

// Returns the exit code for the launcher: the rank's, or the highest of several ranks. Signals are
// left to the engine, since Slurm signals every process of a step.
int run_rank(const RankOptions& options);

}  // namespace slurm
