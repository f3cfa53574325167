// Merges several records of one job. Pure.
#pragma once

#include <vector>

#include "slurm/cluster.h"

namespace slurm {

// Adds a record of accounting. Accounting has a record for each run of a requeued job, all with the
// same id: the latest run stays, and the earlier ones count as restarts.
void keep_last_run(std::vector<JobStatus>& jobs, JobStatus run);

// The controller's jobs of one name, completed by accounting's. A name is given to one job only, so
// that records with the same id are the same job:
// - what the controller shows as alive is alive, since accounting's record may be of the run before
//   a requeue;
// - of two different ends accounting's counts, since it is written last;
// - an end on which both agree stays as the controller shows it, with exit code, reason and
//   restarts: slurmrestd 22.05 gives exit code 0 for every job in accounting, and sacct gives
//   neither reason nor restarts;
// - a job that the controller has forgotten is taken from accounting, unless its cancellation
//   there names nobody: then the controller was started without its jobs, and its processes may
//   still run.
std::vector<JobStatus> merge_records(std::vector<JobStatus> controller,
                                     const std::vector<JobStatus>& accounting);

}  // namespace slurm
