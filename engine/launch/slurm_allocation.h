// Spreads ranks over a Slurm allocation of several nodes, by srun steps. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/launch/rank_identity.h"

namespace engine {

// Cores, tasks and GPUs are counts of one node; where nodes differ, of the smallest.
struct Allocation {
  int nodes = 0;
  int cores = 0;
  int tasks = 0;  // that fit
  int gpus = 0;
};

// Returns nullopt outside of a job, and in a job of a single node. Throws UsageError naming the
// variable that is missing or cannot be understood.
std::optional<Allocation> find_allocation(const Environment& environment);

// How ranks fill the nodes, one node after the other.
struct Spread {
  int most = 1;      // ranks at most
  int per_node = 1;  // ranks on a node
  int threads = 1;   // of each rank, also where there are fewer ranks
};

// Plans one rank for each GPU (`on_devices`) or for each task. `nproc` (ranks) and `threads` of 0
// mean as many as fit. Throws UsageError when the allocation is too small.
Spread spread_over(const Allocation& allocation, bool on_devices, int nproc, int threads);

// Returns the fewest nodes that hold `ranks` ranks.
int nodes_of(const Spread& spread, int ranks);

// Returns a command that runs `command` as an srun step with one task for each rank. It ends with
// the highest exit code of the tasks, as srun does.
std::vector<std::string> step_command(const Spread& spread, bool on_devices, int ranks,
                                      const std::vector<std::string>& command);

}  // namespace engine
