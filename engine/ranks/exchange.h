// Bulk data between ranks: the inputs of a search from rank 0, and the statistics to it. Every rank
// calls the same functions; each throws CommunicatorLost.
#pragma once

#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/comm/communicator.h"
#include "engine/numerics/orientations.h"
#include "engine/numerics/statistics.h"

namespace engine {

// Copies rank 0's inputs to all.
void share(Communicator& communicator, Problem& problem, std::vector<Unit>& units);

// Merges the statistics of all ranks into rank 0's; the others' are undefined afterwards.
void reduce(Communicator& communicator, Accumulators& statistics);

// Throws InputError, naming the worst pixel, when sums of squares are so near to the end of their
// range that those of `ranks` ranks could leave it together.
void check_range(const Accumulators& statistics, int ranks, const std::string& extreme_pixel);

}  // namespace engine
