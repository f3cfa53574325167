#include "scheduler/files/jobs_owner.h"

#include <chrono>
#include <filesystem>
#include <system_error>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/read_file.h"
#include "base/text.h"

namespace scheduler {
namespace {

// A mark that cannot be made newer is no reason to stop.
void keep_new(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  const auto written = fs::last_write_time(path, error);
  if (!error && now - written > std::chrono::hours(24)) fs::last_write_time(path, now, error);
}

}  // namespace

std::string claim_jobs(const std::string& jobs, const std::string& instance) {
  const std::string path = jobs + "/" + kOwnerFile;
  const auto owner = [&] { return base::trimmed(base::read_file(path).value_or("")); };
  if (const std::string known = owner(); !known.empty()) return known;
  // Of two daemons that start at once only one can make it.
  const bool made = base::write_new_file_atomically(path, instance + "\n", {.mode = 0644});
  if (const std::string first = owner(); made || !first.empty()) return first;
  // One that is empty was left by hand.
  base::write_file_atomically(path, instance + "\n", {.mode = 0644});
  return owner();
}

std::string why_not_ours(const std::string& jobs, const std::string& instance) {
  const std::string path = jobs + "/" + kOwnerFile;
  try {
    const auto owner = base::read_file(path);
    if (!owner) {
      return "the folder of jobs '" + jobs + "' is away: mount its file system, or restart " +
             "margayd if the folder, or '" + kOwnerFile + "' in it, was removed for good";
    }
    if (base::trimmed(*owner) != instance) {
      return "the folder of jobs '" + jobs + "' belongs to another database (" +
             base::trimmed(*owner) +
             "): mount this daemon's own folder of jobs there, or correct 'jobs' in the "
             "configuration";
    }
    keep_new(path);
    return "";
  } catch (const base::FileError& error) {
    return std::string("the folder of jobs cannot be used: ") + error.what();
  }
}

}  // namespace scheduler
