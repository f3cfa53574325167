// Spreads ranks over a Slurm allocation of several nodes, by steps of srun. Pure. Counts are for
// each node and, where nodes differ, the smallest.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/launch/rank_identity.h"

namespace engine {

struct Allocation {
  int nodes = 0;
  int cores = 0;
  int tasks = 0;  // that it holds
  int gpus = 0;
};

// nullopt outside of a job, and in one of a single node. Throws UsageError naming the variable that
// is missing or says nothing.
std::optional<Allocation> find_allocation(const Environment& environment);

// How ranks fill the nodes, one after the other.
struct Spread {
  int most = 1;      // ranks
  int per_node = 1;  // ranks
  int threads = 1;   // of each rank, however few there are
};

// One rank for each GPU, or for each task. `nproc` and `threads`: 0 as many as there are. Throws
// UsageError when the allocation does not hold that.
Spread spread_over(const Allocation& allocation, bool on_devices, int nproc, int threads);

// The fewest that hold so many ranks.
int nodes_of(const Spread& spread, int ranks);

// Runs the command as a step of one task for each rank, and ends as srun does: with the highest of
// their exit codes.
std::vector<std::string> step_command(const Spread& spread, bool on_devices, int ranks,
                                      const std::vector<std::string>& command);

}  // namespace engine
