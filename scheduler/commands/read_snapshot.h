// The policy's snapshot as the database has it.
#pragma once

#include "db/database.h"
#include "scheduler/config/config.h"
#include "scheduler/policy/policy.h"

namespace scheduler {

ClusterLimits limits_of(const Config& config);

// What a search of this class gets on Slurm.
Shape shape_for(const SlurmOptions& slurm, db::Priority priority);

// Every item that has not ended; open attempts count as busy slots.
Snapshot read_queue(db::Database& database, int64_t now, const ClusterLimits& limits);

}  // namespace scheduler
