// Marks which database a folder of jobs belongs to. Daemons of two databases in one folder would
// take each other's attempts for their own.
#pragma once

#include <string>

namespace scheduler {

inline constexpr const char* kOwnerFile = ".owner";

// Claims the folder for this instance's database if it has no owner. Returns the instance that it
// belongs to. Throws base::FileError.
std::string claim_jobs(const std::string& jobs, const std::string& instance);

// Why nothing can be written in the folder, with what to do; empty when it is there and belongs to
// this database. If a file system is not mounted, the folder under its mount point does not, and
// files written there would be hidden later. Each call renews the mark's time, so that a site that
// removes old files keeps it.
std::string why_not_ours(const std::string& jobs, const std::string& instance);

}  // namespace scheduler
