// Which database the attempts' folders in a folder of jobs belong to. Daemons of two databases in
// one folder would take each other's attempts for their own.
#pragma once

#include <string>

namespace scheduler {

inline constexpr const char* kOwnerFile = ".owner";

// Takes the folder for the database of this instance where it is nobody's. Returns the instance
// that it belongs to. Throws base::FileError.
std::string claim_jobs(const std::string& jobs, const std::string& instance);

// Why nothing can be written in the folder, with what to do; empty when it is there and belongs to
// this database. Where a file system is not mounted, the folder below it does not, and what were
// written there would be hidden later. A site that removes files by their age finds the mark new.
std::string why_not_ours(const std::string& jobs, const std::string& instance);

}  // namespace scheduler
