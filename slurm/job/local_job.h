// margay-job local: runs the one job of a folder of the local cluster and records what becomes of
// it. margayd starts it and it outlives margayd: nothing here depends on the daemon being there.
#pragma once

#include <string>

namespace slurm {

// Leaves a process behind that runs the job (job_folder.h) and returns at once: 0, or 1 when there
// is no process. In the process it is the exit code.
int start_local_job(const std::string& folder);

}  // namespace slurm
