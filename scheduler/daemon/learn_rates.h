// Learns from a finished search how long the next one takes (scheduler/policy/rates.h).
#pragma once

#include <optional>

#include "db/database.h"
#include "db/records.h"
#include "scheduler/policy/rates.h"

namespace scheduler {

// What the manifest of a finished attempt says of its speed. nullopt: too little, as that of an old
// engine, or of ranks on different models of devices.
std::optional<FinishedSearch> finished_search(const db::Attempt& attempt, const db::Result& result);

// Stores what it teaches, within the caller's transaction. Throws DatabaseError.
void learn_rates(db::Database& database, const db::Attempt& attempt, const db::Result& result);

}  // namespace scheduler
