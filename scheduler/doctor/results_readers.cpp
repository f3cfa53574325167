#include "scheduler/doctor/results_readers.h"

#include <sys/stat.h>
#include <sys/xattr.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/group_lookup.h"
#include "scheduler/files/folder_readers.h"
#include "scheduler/files/posix_acl.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostBytes = 65536;  // of an extended attribute
constexpr unsigned kEnter = 1;

// What the folder's access control list says or, where it has none that can be read, its mode.
Acl acl_of(const std::string& folder, mode_t mode) {
  std::string bytes(kMostBytes, '\0');
  const ssize_t size = ::getxattr(folder.c_str(), kAccessAcl, bytes.data(), bytes.size());
  if (size <= 0) return acl_of_mode(mode);
  try {
    return parse_acl(std::string_view(bytes).substr(0, static_cast<size_t>(size)));
  } catch (const std::invalid_argument&) {
    return acl_of_mode(mode);
  }
}

// To members of the group who are named by nothing else. What is said of their group counts, and
// what is said of others only where nothing is.
bool is_open_to(gid_t group, const std::string& folder, const struct stat& facts) {
  unsigned mask = 7;
  unsigned of_others = 0;
  std::optional<unsigned> of_group;
  for (const AclEntry& entry : acl_of(folder, facts.st_mode)) {
    const bool owns = entry.tag == AclTag::kOwningGroup && facts.st_gid == group;
    const bool named = entry.tag == AclTag::kGroup && entry.id == group;
    if (owns || named) of_group = of_group.value_or(0) | entry.rights;
    if (entry.tag == AclTag::kMask) mask = entry.rights;
    if (entry.tag == AclTag::kOthers) of_others = entry.rights;
  }
  return ((of_group ? *of_group & mask : of_others) & kEnter) != 0;
}

// The first from the root down; empty: there is none.
std::string closed_folder(gid_t group, const std::string& jobs) {
  fs::path path;
  for (const fs::path& part : fs::absolute(jobs).lexically_normal()) {
    path /= part;
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0 || !is_open_to(group, path, facts)) {
      return path.string();
    }
  }
  return "";
}

// Says whether the file system has access control lists; of one that has none, what that means and
// what to do.
void examine_acls(const std::string& jobs, const std::string& good, const std::string& without,
                  const std::string& remedy, slurm::Findings& findings) {
  const AclSupport support = acl_support(jobs);
  const std::string reason = std::strerror(errno);
  const std::string file_system = "the file system of '" + jobs + "'";
  if (support == AclSupport::kYes) {
    findings.good("readers", good);
  } else if (support == AclSupport::kNo) {
    findings.warn("readers", file_system + " has no POSIX access control lists: " + without,
                  remedy);
  } else {
    findings.warn(
        "readers",
        file_system + " does not say whether it has POSIX access control lists: " + reason,
        "look for its fault: getfacl '" + jobs + "'");
  }
}

// Where results are for their owners alone.
void examine_owners(const Config& config, bool by_group, slurm::Findings& findings) {
  const std::string jobs = config.jobs();
  if (by_group) {
    findings.warn("readers",
                  "members of '" + config.socket_group + "' can read all results in '" + jobs +
                      "', which has the set-group-ID bit, although 'results.readers' is 'owner'",
                  "take the bit away, and give the folder to the group of margayd's user: chmod "
                  "g-s '" +
                      jobs + "'");
  } else {
    examine_acls(jobs, "each item's owner can read its results in '" + jobs + "'",
                 "owners of items cannot read the results", "mount it with them", findings);
  }
}

}  // namespace

void examine_readers(const Config& config, slurm::Findings& findings) {
  const std::optional<gid_t> group = base::look_up_group(config.socket_group).number;
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
  } else if (config.readers == ResultsReaders::kOwner) {
    examine_owners(config, by_group, findings);
  } else if (by_group) {
    findings.good("readers",
                  "group '" + config.socket_group + "' can read the results in '" + jobs + "'");
  } else {
    examine_acls(jobs, "each item's owner and group can read its results in '" + jobs + "'",
                 "owners of items may not be able to read the results",
                 "mount it with them, or let a group read all: chgrp " + config.socket_group +
                     " '" + jobs + "' && chmod 2751 '" + jobs + "'",
                 findings);
  }
}

}  // namespace scheduler
