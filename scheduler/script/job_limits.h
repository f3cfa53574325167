// Changes the time and the memory that a job asks for from what its options say. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "slurm/sbatch/directives.h"
#include "slurm/sbatch/values.h"

namespace scheduler {

int gpus_on_each_node(const slurm::Resources& wanted);

// Multiplies the time limit by `factor`, never beyond `longest` in seconds, which the partition
// would refuse (-1: no bound).
void stretch_time(slurm::Directives& asks, double factor, int64_t longest);

// Multiplies the memory by `factor`, never beyond `largest`, the megabytes of a node (-1: no
// bound). "0" means all memory of the node.
void raise_memory(slurm::Directives& asks, double factor, int64_t largest,
                  const std::string& where);

// Sets the time limit to a segment (seconds) plus the warning before its end, never beyond
// `longest` (0: no bound). Returns the seconds until that warning; 0: nothing was changed, since
// the job gets no warning or asks for less time.
int64_t cut_to_segment(slurm::Directives& asks, int64_t segment, int64_t longest);

// Sets the time limit in seconds, which includes two minutes for a checkpoint, and more where the
// warning comes earlier; never beyond `longest` (0: no bound). A job that already asks for no more
// keeps its limit, since Slurm starts shorter jobs sooner. Returns whether it changed the time; a
// limit of 0 changes nothing.
bool limit_time(slurm::Directives& asks, int64_t limit, int64_t longest);

// Shortens a warning of more than half the job's time to half of it: a warning longer than the job
// would come at its start, again and again.
void shorten_warning(slurm::Directives& asks);

}  // namespace scheduler
