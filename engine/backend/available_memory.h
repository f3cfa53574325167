// Finds out how much memory this process can still take: the machine's free memory, limited by the
// control groups around the process (a Slurm job, a container).
#pragma once

#include <cstdint>
#include <string>

namespace engine {

// Returns the bytes that this process can still take without swapping; 0 when they are not known.
uint64_t available_memory();

// Returns the bytes left in the fullest of the process's control groups; 0 where none sets a limit.
// `membership` is the text of /proc/self/cgroup, and `root` the folder of the groups
// (/sys/fs/cgroup), of version 1 or 2.
uint64_t group_memory_left(const std::string& membership, const std::string& root);

}  // namespace engine
