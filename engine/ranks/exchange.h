// What ranks hand each other in bulk: the inputs of a search, and the statistics.
#pragma once

#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/comm/communicator.h"
#include "engine/numerics/orientations.h"
#include "engine/numerics/statistics.h"

namespace engine {

// What rank 0 has, to all.
void share(Communicator& communicator, Problem& problem, std::vector<Unit>& units);

// To rank 0 the statistics of all; the others' are undefined afterwards.
void reduce(Communicator& communicator, Accumulators& statistics);

// Throws InputError, naming the worst pixel, when sums of squares are so near to the end of their
// range that those of `ranks` ranks could leave it together.
void check_range(const Accumulators& statistics, int ranks, const std::string& extreme_pixel);

}  // namespace engine
