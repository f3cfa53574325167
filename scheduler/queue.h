// The policy's snapshot as the database has it.
#pragma once

#include "db/database.h"
#include "scheduler/policy.h"

namespace scheduler {

// Every item that has not ended; open attempts count as busy slots.
Snapshot read_queue(db::Database& database, int64_t now, int device_slots);

}  // namespace scheduler
