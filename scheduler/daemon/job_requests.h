// Requests about jobs that exist already: release, stop, checkpoint.
//
// Each call spends one of the site's requests per minute, or does nothing when none is left; the
// next snapshot is the retry. Only the tick calls them, since they wait for the cluster.
#pragma once

#include <string>

#include "db/records.h"
#include "scheduler/daemon/context.h"
#include "slurm/cluster.h"

namespace scheduler {

// Requests that submissions leave to all others, and that the search for lost jobs leaves to those
// that stop one.
inline constexpr int kKeptBySubmissions = 2;
inline constexpr int kKeptByLookups = 1;

// Lets the job of an attempt that we submitted held start, and stores that. A job that the user or
// an administrator holds is left alone by the caller.
void release_job(const DaemonContext& context, db::Attempt& attempt);

// Cancels a job. Returns false when no request is left.
bool ask_to_stop(const DaemonContext& context, const std::string& job_id);

// Stores that this job is to make room for a wider one of its item, and asks it for a checkpoint.
void begin_to_stop(const DaemonContext& context, db::Attempt attempt, const slurm::JobStatus& job);
// Asks again, since a script that is still preparing its search ignores the signal. A job that
// still waits is cancelled, and so is one that has not stopped after five minutes.
void ask_for_checkpoint(const DaemonContext& context, const db::Attempt& attempt,
                        const slurm::JobStatus& job);

// Stores that this job is ended since its search stalled, and asks for its end.
void begin_to_end_stalled(const DaemonContext& context, db::Attempt attempt,
                          const slurm::JobStatus& job, const std::string& why);

// False for a job that is over or about to be.
bool can_be_stopped(const slurm::JobStatus& job);

}  // namespace scheduler
