// Reads the policy's snapshot from the database, and its limits from the configuration.
#pragma once

#include <map>
#include <string>

#include "db/database.h"
#include "scheduler/config/config.h"
#include "scheduler/policy/policy.h"

namespace scheduler {

ClusterLimits limits_of(const Config& config);

// Partition, account, QOS and reservation that a job without options of its own asks for. Throws as
// directives_of().
std::map<std::string, std::string> plain_place_of(const Config& config);

// The shape that a search of this class gets on Slurm.
Shape shape_for(const SlurmOptions& slurm, db::Priority priority);

// All unfinished items; open attempts count as busy slots. `now` is in seconds since the epoch.
QueueSnapshot read_queue(db::Database& database, int64_t now, const ClusterLimits& limits);

}  // namespace scheduler
