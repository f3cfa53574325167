// Lets the owner of an item and its group read the folder of its attempts, whose files are written
// by the daemon's user, or another one, under any umask.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/group_lookup.h"
#include "scheduler/files/posix_acl.h"

namespace scheduler {

// What happens to the readers that a folder already has.
enum class KnownReaders {
  kStay,
  kLeave,       // removed, except those inherited from the folder above
  kOwnerAlone,  // as kLeave, and no group that the set-group-ID bit shows to be chosen is added
};

// Lets the readers read through an access control list that new files in the folder inherit. On a
// file system without such lists the folder is given to the readers' group, where that is permitted
// and no set-group-ID bit shows that the site has chosen the group. Returns an empty text if they
// can read, else why they cannot and what to do. Existing files in the folder stay as they are.
std::string let_read(const std::string& folder, const FileReaders& readers, KnownReaders known);

enum class AclSupport { kYes, kNo, kUnknown };
// Says whether the file system of an existing folder has access control lists; kUnknown where it
// cannot be asked, with the reason in errno.
AclSupport acl_support(const std::string& folder);

// Makes a folder and the missing ones above it, so that everybody may pass through them (x only).
// Returns what let_pass() says of them. Throws std::filesystem::filesystem_error.
std::string make_passable_folder(const std::string& folder);

// Lets everybody pass through a folder (x only) that belongs to this process's user, is not a link,
// and has no set-group-ID bit; other folders are left to the site. Returns an empty text, or a
// sentence when its mode could not be changed.
std::string let_pass(const std::string& folder);

// Used by one thread. A group is looked up once; if the system's database does not answer, again at
// most once in kRetry. Each problem is logged once.
class FolderReaders {
 public:
  static constexpr std::chrono::seconds kRetry{60};
  struct Surroundings {
    std::function<base::GroupLookup(const std::string&)> look_up = base::look_up_group;
    std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
  };

  // `log` takes one line.
  explicit FolderReaders(std::function<void(const std::string&)> log)
      : FolderReaders(std::move(log), Surroundings()) {}
  FolderReaders(std::function<void(const std::string&)> log, Surroundings surroundings)
      : log_(std::move(log)), surroundings_(std::move(surroundings)) {}

  // Makes an item's folder if it is missing, and lets its owner and the group, if one is named,
  // read it. A folder that exists before the item's first attempt belongs to an item of another
  // database, whose readers must not read this one's results: pass kLeave. Nothing is done for the
  // daemon's own user. If the owner cannot read the folder, that is only logged, since the search
  // can still run. Throws std::filesystem::filesystem_error when it cannot be made.
  void prepare(const std::string& folder, int64_t owner, const std::string& group,
               KnownReaders known);

 private:
  struct Group {
    base::GroupLookup lookup;
    std::chrono::steady_clock::time_point looked_up;
  };
  std::optional<gid_t> number_of(const std::string& group);

  std::function<void(const std::string&)> log_;
  Surroundings surroundings_;
  std::map<std::string, Group> groups_;
  std::set<std::string> logged_;
};

}  // namespace scheduler
