// margay-job run: the job of one attempt from its claim to its exit code.
#pragma once

#include "slurm/job/job_arguments.h"

namespace slurm {

// Returns the exit code of the job: the engine's, of the first rank that failed (0 done, 64 bad
// input, 70 device, 71 device memory, 85 stopped with a checkpoint); 70 too when the device fails
// its probe; 75 when another run holds the claim or a newer attempt has begun; 2, 126 and 127 when
// the engine cannot be started.
int run_attempt(const RunOptions& options);

}  // namespace slurm
