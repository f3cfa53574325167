// What the daemon asks of a job that is there already.
#pragma once

#include "db/records.h"
#include "scheduler/daemon/context.h"
#include "slurm/cluster.h"

namespace scheduler {

// Of the site's requests per minute, what submissions leave to other requests, and what the search
// for lost jobs leaves to those that stop one.
inline constexpr int kKeptBySubmissions = 2;
inline constexpr int kKeptByLookups = 1;

// Lets the job of an attempt that was submitted held start, and remembers that. A job that somebody
// else holds is none of these. Not done: the next picture shows it held still.
void release_job(const DaemonContext& context, db::Attempt& attempt);

// False when it is not asked now: no request is left.
bool ask_to_stop(const DaemonContext& context, const std::string& job_id);

// Remembers that this job is to make room for a wider one of its item, and asks it.
void begin_to_stop(const DaemonContext& context, db::Attempt attempt, const slurm::JobStatus& job);
// Asks for a checkpoint and the end of a job that was asked before, too: a script that prepares its
// search has nobody who listens. One that waits still is cancelled; so is one that does not stop.
void ask_for_checkpoint(const DaemonContext& context, const db::Attempt& attempt,
                        const slurm::JobStatus& job);

// Whether asking it to stop is of any use.
bool can_be_stopped(const slurm::JobStatus& job);

}  // namespace scheduler
