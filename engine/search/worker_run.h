// Runs a rank other than 0 from joining to its end.
#pragma once

#include <atomic>

#include "engine/error.h"
#include "engine/ranks/rank_group.h"
#include "engine/search/device.h"

namespace engine {

// Joins rank 0, receives the search and works until rank 0 ends it. Returns kDone or kStopped. When
// `stop` becomes true it asks rank 0 to stop the search. Throws EndedByLeader when rank 0 gave up
// and reported why, or the Error that ended this rank.
ExitCode run_worker(const RankGroupOptions& options, const DeviceOptions& device,
                    const std::atomic<bool>& stop);

}  // namespace engine
