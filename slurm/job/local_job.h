// margay-job local: runs the one job of a folder of the local cluster and records how it ends.
// margayd starts it and it outlives margayd: nothing here depends on a running daemon.
#pragma once

#include <string>

namespace slurm {

// Forks a process that runs the job (job_folder.h) and returns at once: 0, or 1 when the process
// could not be made. In that process it returns the process's exit code.
int start_local_job(const std::string& folder);

}  // namespace slurm
