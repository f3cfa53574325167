// Makes the sentences of a plan when it is shown.
#pragma once

#include <cstdint>
#include <string>

#include "scheduler/policy/plan.h"

namespace scheduler {

inline constexpr const char* kBeingCancelled = "being cancelled: waiting for its job to stop";
inline constexpr const char* kBeingRead =
    "waits: its micrograph is being read, or those of items before it";
std::string held_text(int64_t item_id);
std::string retry_text(int64_t seconds);
// For an item of this class whose job was asked for a checkpoint.
std::string stops_text(const ClusterLimits& limits, db::Priority priority);

// "its class gets at least 5 % of the 60 GPUs that Margay may use, whatever waits above it"
std::string floor_text(const Floor& floor);

// Why the item waits, runs or is held, one sentence for the user. `decision` must be one of the
// plan's.
std::string sentence(const Plan& plan, const Decision& decision);

}  // namespace scheduler
