// Requests about jobs that exist already: release, stop, checkpoint.
//
// Each call spends one of the site's requests per minute, or does nothing when none is left; it is
// then repeated at the next snapshot. Only the tick calls them, since they wait for the cluster.
#pragma once

#include <string>

#include "db/records.h"
#include "scheduler/daemon/context.h"
#include "slurm/cluster.h"

namespace scheduler {

// Requests that submissions leave to all other uses, and those that lookups of lost jobs leave to
// requests that stop a job.
inline constexpr int kKeptBySubmissions = 2;
inline constexpr int kKeptByLookups = 1;

// Releases the job of an attempt that was submitted held, and stores that. The caller must not pass
// a job that the user or an administrator holds.
void release_job(const DaemonContext& context, db::Attempt& attempt);

// Cancels a job. Returns false when no request is left.
bool ask_to_stop(const DaemonContext& context, const std::string& job_id);

// Stores that this job must stop for a wider one of its item, and asks it for a checkpoint.
void begin_to_stop(const DaemonContext& context, db::Attempt attempt, const slurm::JobStatus& job);
// Asks for the checkpoint again, since a script that is still preparing its search ignores the
// signal. Cancels a job that still waits in the queue or has not stopped after five minutes.
void ask_for_checkpoint(const DaemonContext& context, const db::Attempt& attempt,
                        const slurm::JobStatus& job);

// Stores that this job is being ended because its search stalled, and asks the cluster to end it.
void begin_to_end_stalled(const DaemonContext& context, db::Attempt attempt,
                          const slurm::JobStatus& job, const std::string& why);

// False for a job that is over or about to be.
bool can_be_stopped(const slurm::JobStatus& job);

}  // namespace scheduler
