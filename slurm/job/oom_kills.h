// How many processes of this process's cgroup the kernel has killed for want of memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace slurm {

// Where the kernel says so; another place in tests.
struct CgroupFiles {
  std::string own = "/proc/self/cgroup";
  std::string root = "/sys/fs/cgroup";
};

// nullopt: it cannot be known here, for one without cgroups of version 2.
std::optional<int64_t> oom_kills(const CgroupFiles& files = {});

}  // namespace slurm
