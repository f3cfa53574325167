// Lets the owner of an item and its group read the folder of its attempts, which are written by the
// daemon's user, or another one's, under whatever umask.
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

// What becomes of the readers that a folder has.
enum class KnownReaders {
  kStay,
  kLeave,       // but those that the folder above gives to what is made in it
  kOwnerAlone,  // as kLeave; nor is a group added that the set-group-ID bit shows to be chosen
};

// By an access control list that what is made in the folder later inherits. On a file system
// without such lists the folder goes to the readers' group, where that is permitted and no
// set-group-ID bit shows that the site has chosen the group. Empty: they can read; else why they
// cannot, with what to do. What is in the folder already stays as it is.
std::string let_read(const std::string& folder, const FileReaders& readers, KnownReaders known);

// Whether the file system of a folder, which must be there, has access control lists.
bool has_acls(const std::string& folder);

// Makes a folder and those missing above it so that everybody may pass through them (x, no more).
// Returns what let_pass() says of them. Throws std::filesystem::filesystem_error.
std::string make_passable_folder(const std::string& folder);

// Lets everybody pass through a folder (x, no more) that belongs to this process's user, is no
// link, and has no set-group-ID bit. Empty: they may, or that is left to the site; else a sentence:
// its mode could not be changed.
std::string let_pass(const std::string& folder);

// For one thread. A group is looked up once; where the system's database does not answer, at most
// once in kRetry. Each problem is logged once.
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

  // Makes an item's folder, where it is not there, and lets its owner and the group, if one is
  // named, read it. A folder that is there before the item's first attempt is another database's
  // item's, whose readers must not read this one's results: kLeave. Nothing is done for the
  // daemon's own user. A folder that its owner cannot read is no reason not to search: that is
  // logged. Throws std::filesystem::filesystem_error when it cannot be made.
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
