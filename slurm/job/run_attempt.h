// margay-job run: the job of one attempt from its claim to its exit code.
#pragma once

#include "slurm/job/job_arguments.h"

namespace slurm {

// Returns the job's exit code: the engine's, from the first rank that failed (0 done, 64 bad input,
// 70 device, 71 device memory, 85 stopped with a checkpoint); also 70 when the device fails its
// probe; 75 when another run holds the claim or a newer attempt has begun; 2, 126 or 127 when the
// engine cannot be started.
int run_attempt(const RunOptions& options);

}  // namespace slurm
