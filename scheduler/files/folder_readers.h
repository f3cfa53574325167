// Lets the owner of an item and its group read the folder of its attempts, which are written by the
// daemon's user, or another one's, under whatever umask.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "scheduler/files/posix_acl.h"

namespace scheduler {

// By an access control list that what is made in the folder later inherits. On a file system
// without such lists the folder goes to the readers' group, where that is permitted and no
// set-group-ID bit shows that the site has chosen the group. Empty: they can read; else why they
// cannot, with what to do. What is in the folder already stays as it is.
std::string let_read(const std::string& folder, const FileReaders& readers);

// Whether the file system of a folder, which must be there, has access control lists.
bool has_acls(const std::string& folder);

// Makes a folder and those missing above it so that everybody may pass through them (x, no more).
// Throws std::filesystem::filesystem_error.
void make_passable_folder(const std::string& folder);

// Lets everybody pass through a folder (x, no more) that belongs to this process's user, is no
// link, and has no set-group-ID bit. Throws std::filesystem::filesystem_error.
void let_pass(const std::string& folder);

// The number of a group by its name or "#GID"; nullopt when there is none. May wait for the
// system's database.
std::optional<gid_t> group_number(const std::string& name);

// For one thread. Each group is looked up once, and each problem told once.
class FolderReaders {
 public:
  // `log` takes one line.
  explicit FolderReaders(std::function<void(const std::string&)> log) : log_(std::move(log)) {}

  // Makes an item's folder, where it is not there, and lets its owner and the group read it.
  // Nothing is done for the daemon's own user. A folder that its owner cannot read is no reason not
  // to search: that is logged. Throws std::filesystem::filesystem_error when it cannot be made.
  void prepare(const std::string& folder, int64_t owner, const std::string& group);

 private:
  std::function<void(const std::string&)> log_;
  std::map<std::string, std::optional<gid_t>> groups_;
  std::set<std::string> told_;
};

}  // namespace scheduler
