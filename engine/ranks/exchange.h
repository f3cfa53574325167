// Exchanges bulk data between ranks: rank 0 sends the inputs of a search and receives the
// statistics. Every rank calls share() and reduce() in the same order; both throw CommunicatorLost.
#pragma once

#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/comm/communicator.h"
#include "engine/numerics/orientations.h"
#include "engine/numerics/statistics.h"

namespace engine {

// Copies rank 0's inputs to all ranks.
void share(Communicator& communicator, Problem& problem, std::vector<Unit>& units);

// Merges the statistics of all ranks into rank 0's; those of the other ranks are undefined
// afterwards.
void reduce(Communicator& communicator, Accumulators& statistics);

// Throws InputError naming the worst pixel where a sum of squares is so large that `ranks` of such
// sums together could leave the range.
void check_range(const Accumulators& statistics, int ranks, const std::string& extreme_pixel);

}  // namespace engine
