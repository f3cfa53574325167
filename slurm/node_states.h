// Slurm's words for what a node is good for. Pure.
#pragma once

#include <set>
#include <string>

namespace slurm {

enum class NodeUse {
  kUsable,    // jobs start there, now or when running ones end
  kDown,      // down, failed or not responding, or the state is not known
  kDrained,   // takes no new jobs; running ones may continue
  kReserved,  // for the jobs of a reservation, or for maintenance
};

// The use of a node with these state words, in capitals as slurmrestd and sinfo write them:
// {"MIXED", "DRAIN"}, {"IDLE", "PLANNED"}. An unknown flag changes nothing. A new word goes into
// the table in node_states.cpp.
NodeUse use_of_node(const std::set<std::string>& words);

// "usable", "down", "drained", "reserved".
std::string to_string(NodeUse use);

}  // namespace slurm
