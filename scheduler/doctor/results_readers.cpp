#include "scheduler/doctor/results_readers.h"

#include <sys/stat.h>
#include <sys/xattr.h>

#include <filesystem>
#include <optional>
#include <string>

#include "scheduler/files/folder_readers.h"
#include "scheduler/files/posix_acl.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;

// A folder with an access control list is open to those whom it names.
bool has_own_acl(const std::string& folder) {
  return ::getxattr(folder.c_str(), kAccessAcl, nullptr, 0) > 0;
}

bool is_open_to(gid_t group, const std::string& folder, const struct stat& facts) {
  const bool to_group = facts.st_gid == group && (facts.st_mode & S_IXGRP) != 0;
  return to_group || (facts.st_mode & S_IXOTH) != 0 || has_own_acl(folder);
}

// The first from the root down; empty: there is none.
std::string closed_folder(gid_t group, const std::string& jobs) {
  fs::path path;
  for (const fs::path& part : fs::absolute(jobs).lexically_normal()) {
    path /= part;
    struct stat facts {};
    if (::stat(path.c_str(), &facts) == 0 && !is_open_to(group, path, facts)) {
      return path.string();
    }
  }
  return "";
}

}  // namespace

void examine_readers(const Config& config, slurm::Findings& findings) {
  const std::optional<gid_t> group = group_number(config.socket_group);
  const std::string jobs = config.jobs();
  struct stat facts {};
  if (!group || ::stat(jobs.c_str(), &facts) != 0) return;
  const std::string closed = closed_folder(*group, jobs);
  const bool by_group = facts.st_gid == *group && (facts.st_mode & S_ISGID) != 0;
  if (!closed.empty()) {
    findings.warn("readers",
                  "members of '" + config.socket_group + "' cannot enter '" + closed +
                      "' on the way to the results of their items in '" + jobs + "'",
                  "let them pass: chmod o+x '" + closed + "'");
  } else if (by_group) {
    findings.good("readers",
                  "group '" + config.socket_group + "' can read the results in '" + jobs + "'");
  } else if (has_acls(jobs)) {
    findings.good("readers", "each item's owner and group can read its results in '" + jobs + "'");
  } else {
    findings.warn("readers",
                  "the file system of '" + jobs +
                      "' has no POSIX access control lists: owners of items may not be able to "
                      "read the results",
                  "mount it with them, or let a group read all: chgrp " + config.socket_group +
                      " '" + jobs + "' && chmod 2751 '" + jobs + "'");
  }
}

}  // namespace scheduler
