// Slurm's words for what a node is good for. Pure.
#pragma once

#include <set>
#include <string>

namespace slurm {

enum class NodeUse {
  kUsable,    // jobs start there, now or when those that it has end
  kDown,      // down, failed, not responding, or not known to be anything else
  kDrained,   // takes no new jobs; those that it has may still run
  kReserved,  // for the jobs of a reservation, or for maintenance
};

// Of words in capitals as slurmrestd and sinfo write them: {"MIXED", "DRAIN"}, {"IDLE", "PLANNED"}.
// A flag that is not known changes nothing. A new word goes into the table in node_states.cpp.
NodeUse use_of_node(const std::set<std::string>& words);

// "usable", "down", "drained", "reserved".
std::string to_string(NodeUse use);

}  // namespace slurm
