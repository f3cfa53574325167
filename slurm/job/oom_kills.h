// How many processes in this process's cgroup the kernel has killed because memory ran out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace slurm {

// The kernel's files; tests use their own.
struct CgroupFiles {
  std::string own = "/proc/self/cgroup";
  std::string root = "/sys/fs/cgroup";
};

// nullopt: not known, for example without cgroups version 2.
std::optional<int64_t> oom_kills(const CgroupFiles& files = {});

}  // namespace slurm
