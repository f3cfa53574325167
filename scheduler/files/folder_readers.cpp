#include "scheduler/files/folder_readers.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "base/descriptor.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostBytes = 65536;  // of an extended attribute

bool means_no_acls(int error) { return error == EOPNOTSUPP || error == ENOSYS; }

std::string reason() { return std::strerror(errno); }

std::string path_of(const base::Descriptor& open) {
  return "/proc/self/fd/" + std::to_string(open.get());
}

// nullopt with errno 0: the folder has no such list.
std::optional<Acl> read_acl(const std::string& folder, const char* name) {
  std::string bytes(kMostBytes, '\0');
  const ssize_t size = ::getxattr(folder.c_str(), name, bytes.data(), bytes.size());
  if (size < 0) {
    if (errno == ENODATA) errno = 0;
    return std::nullopt;
  }
  return parse_acl(std::string_view(bytes).substr(0, static_cast<size_t>(size)));
}

bool write_acl(const base::Descriptor& folder, const char* name, const Acl& acl) {
  const std::string bytes = to_bytes(acl);
  return ::fsetxattr(folder.get(), name, bytes.data(), bytes.size(), 0) == 0;
}

struct FolderAcls {
  Acl access{};
  Acl inherited{};  // by what is made in the folder
};

// Returns 0 or an errno.
int read_acls(const base::Descriptor& folder, const struct stat& facts, FolderAcls& acls) {
  const auto access = read_acl(path_of(folder), kAccessAcl);
  if (!access && errno != 0) return errno;
  const auto inherited = read_acl(path_of(folder), kDefaultAcl);
  if (!inherited && errno != 0) return errno;
  acls.access = access.value_or(acl_of_mode(facts.st_mode));
  acls.inherited = inherited.value_or(acls.access);
  return 0;
}

// What a folder would have that were made now in the place of this one. Returns 0 or an errno.
int acls_from_above(const base::Descriptor& folder, FolderAcls& acls) {
  // The folder above may be one that this process cannot list.
  const base::Descriptor above(::openat(folder.get(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!above) return errno;
  const auto inherited = read_acl(path_of(above), kDefaultAcl);
  if (!inherited && errno != 0) return errno;
  acls.access = inherited.value_or(without_named(acls.access));
  acls.inherited = acls.access;
  return 0;
}

// Returns 0 or an errno.
int let_read_by_acl(const base::Descriptor& folder, const struct stat& facts,
                    const FileReaders& readers, KnownReaders known) {
  FolderAcls acls;
  int error = read_acls(folder, facts, acls);
  if (error == 0 && known != KnownReaders::kStay) error = acls_from_above(folder, acls);
  if (error != 0) return error;
  // The kernel takes the set-group-ID bit from a folder whose list is written by a process outside
  // its group: what is made there later is then not of this group, and is read by it by the list.
  FileReaders group{.user = readers.user};
  const bool is_of_group = (facts.st_mode & S_ISGID) != 0 && (facts.st_mode & S_IRGRP) != 0;
  if (is_of_group && known != KnownReaders::kOwnerAlone) group.group = facts.st_gid;
  const auto with_all = [&](const Acl& acl) {
    return with_readers(with_readers(acl, readers), group);
  };
  // First what is inherited: nothing is made in the folder before both are there.
  const bool written = write_acl(folder, kDefaultAcl, with_all(acls.inherited)) &&
                       write_acl(folder, kAccessAcl, with_all(acls.access));
  return written ? 0 : errno;
}

// Returns why the group could not be given the folder.
std::string let_read_by_group(int folder, const struct stat& facts, const FileReaders& readers) {
  if (!readers.group) return "the owner's group is not known";
  const bool passes_on = (facts.st_mode & S_ISGID) != 0;
  if (facts.st_gid == *readers.group && (passes_on || facts.st_gid == ::getegid())) return "";
  if (passes_on) {
    return "the folder's group is the one of the folder above, which has the set-group-ID bit";
  }
  if (::fchown(folder, static_cast<uid_t>(-1), *readers.group) != 0) {
    return "it cannot be given to group " + std::to_string(*readers.group) + ": " + reason();
  }
  if (::fchmod(folder, (facts.st_mode & 07777U) | S_ISGID) == 0) return "";
  const std::string why = "it cannot be given the set-group-ID bit: " + reason();
  if (::fchown(folder, static_cast<uid_t>(-1), facts.st_gid) != 0) {
    return why + ", nor be given back to its group: " + reason();
  }
  return why;
}

}  // namespace

std::string let_read(const std::string& folder, const FileReaders& readers, KnownReaders known) {
  const base::Descriptor open(
      ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts {};
  if (!open || ::fstat(open.get(), &facts) != 0) return "it cannot be opened: " + reason();
  int error = 0;
  try {
    error = let_read_by_acl(open, facts, readers, known);
  } catch (const std::invalid_argument& unknown) {
    return std::string("it has ") + unknown.what();
  }
  if (error == 0) return "";
  if (!means_no_acls(error)) {
    return std::string("its access control list cannot be written: ") + std::strerror(error);
  }
  const std::string no_lists = "its file system has no POSIX access control lists";
  if (known == KnownReaders::kOwnerAlone) return no_lists + ": mount it with them";
  const std::string why = let_read_by_group(open.get(), facts, readers);
  if (why.empty()) return "";
  return no_lists + ", and " + why +
         ": mount it with them, or give the folder of jobs to a group of its readers, with mode "
         "2751";
}

AclSupport acl_support(const std::string& folder) {
  const bool has_list = ::getxattr(folder.c_str(), kAccessAcl, nullptr, 0) >= 0;
  if (has_list || errno == ENODATA) return AclSupport::kYes;
  return means_no_acls(errno) ? AclSupport::kNo : AclSupport::kUnknown;
}

std::string make_passable_folder(const std::string& folder) {
  std::vector<fs::path> missing;
  for (fs::path path = fs::absolute(folder); !fs::exists(path); path = path.parent_path()) {
    missing.push_back(path);
  }
  fs::create_directories(folder);
  std::string problem;
  for (const fs::path& made : missing) {
    const std::string why = let_pass(made.string());
    if (problem.empty()) problem = why;
  }
  return problem;
}

std::string let_pass(const std::string& folder) {
  struct stat facts {};
  if (::lstat(folder.c_str(), &facts) != 0 || facts.st_uid != ::geteuid()) return "";
  if (S_ISLNK(facts.st_mode) || (facts.st_mode & S_IXOTH) != 0) return "";
  // The site has chosen who reads by the group, and a change of the mode would take the bit away
  // from a folder of a group that this process is not in, or is forbidden by systemd.
  if ((facts.st_mode & S_ISGID) != 0) return "";
  if (::chmod(folder.c_str(), (facts.st_mode & 07777U) | S_IXOTH) == 0) return "";
  return "owners of items may not reach their results: others cannot be let through '" + folder +
         "' (chmod o+x): " + reason();
}

std::optional<gid_t> FolderReaders::number_of(const std::string& group) {
  const auto now = surroundings_.now();
  const auto known = groups_.find(group);
  if (known != groups_.end() &&
      (known->second.lookup.error == 0 || now < known->second.looked_up + kRetry)) {
    return known->second.lookup.number;
  }
  const base::GroupLookup lookup = surroundings_.look_up(group);
  groups_[group] = {.lookup = lookup, .looked_up = now};
  if (lookup.number || group.empty()) return lookup.number;
  const std::string problem = base::problem_of(lookup, group);
  if (logged_.insert(problem).second) {
    log_(problem + ": results of items whose search starts now are readable by their owners only");
  }
  return lookup.number;
}

void FolderReaders::prepare(const std::string& folder, int64_t owner, const std::string& group,
                            KnownReaders known) {
  fs::create_directories(folder);
  if (owner < 0 || owner == static_cast<int64_t>(::geteuid())) return;
  const FileReaders readers{.user = static_cast<uid_t>(owner), .group = number_of(group)};
  const std::string why = let_read(folder, readers, known);
  if (why.empty() || !logged_.insert(why).second) return;
  log_("the owner of the item may not be able to read its results in '" + folder + "': " + why);
}

}  // namespace scheduler
