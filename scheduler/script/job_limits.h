// The time and the memory that a job asks for, after what its options say. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "slurm/sbatch/directives.h"
#include "slurm/sbatch/values.h"

namespace scheduler {

int gpus_on_each_node(const slurm::Resources& wanted);

// Never beyond `longest`, where the partition would not take the job any more (-1: no bound).
void stretch_time(slurm::Directives& asks, double factor, int64_t longest);

// Never beyond `largest`, the megabytes of a node (-1: no bound). "0" is all that the node has.
void raise_memory(slurm::Directives& asks, double factor, int64_t largest,
                  const std::string& where);

// Gives the job the time of a segment, seconds, and of the warning before its end, never beyond
// `longest` (0: no bound). Returns the seconds until that warning; 0: nothing is changed, since
// nothing warns it or it asks for less.
int64_t cut_to_segment(slurm::Directives& asks, int64_t segment, int64_t longest);

// Gives the job this time limit, seconds, which has two minutes for a checkpoint, and more where
// the warning comes earlier; never beyond `longest` (0: no bound), unless it asks for
// no more already: Slurm starts a shorter job sooner. Returns whether it changed the time; with 0
// it does not.
bool limit_time(slurm::Directives& asks, int64_t limit, int64_t longest);

// A warning that is longer than the job would come at its start, again and again.
void shorten_warning(slurm::Directives& asks);

}  // namespace scheduler
