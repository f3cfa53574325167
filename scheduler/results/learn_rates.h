// Learns from a finished search how long the next one takes (scheduler/forecast/rates.h).
#pragma once

#include <optional>

#include "db/database.h"
#include "db/records.h"
#include "scheduler/forecast/rates.h"

namespace scheduler {

// The speed of a finished attempt according to its manifest. nullopt: the manifest says too little,
// such as an old engine's, or its ranks used different models of devices.
std::optional<FinishedSearch> finished_search(const db::Attempt& attempt, const db::Result& result);

// Stores the measures that the result changes, within the caller's transaction. Throws
// DatabaseError.
void learn_rates(db::Database& database, const db::Attempt& attempt, const db::Result& result);

}  // namespace scheduler
