// How much memory this process can still take: what the machine has free, and what the control
// groups around it (a Slurm job, a container) leave.
#pragma once

#include <cstdint>
#include <string>

namespace engine {

// Bytes that a process can still take without swapping; 0 when they cannot be found out.
uint64_t available_memory();

// Bytes: the least that any of the groups leaves, 0 where none sets a limit. `membership` is the
// text of /proc/self/cgroup, `root` the folder where the groups lie (/sys/fs/cgroup), of version 1
// or 2.
uint64_t group_memory_left(const std::string& membership, const std::string& root);

}  // namespace engine
