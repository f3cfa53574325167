#include "scheduler/files/registered_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "scheduler/errors.h"

namespace scheduler {
namespace {

std::string link_text(const std::string& path) {
  return "'" + path + "' is a symbolic link or lies behind one, which is not followed";
}

// Follows no link anywhere on the path. Kernels before 5.6 and some containers know only how not to
// follow the last part: there find_registered() sees by the open file's name whether there was one.
base::Descriptor open_unfollowed(const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_NOFOLLOW | O_CLOEXEC);
  how.resolve = RESOLVE_NO_SYMLINKS;
  const auto opened = ::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how);
  if (opened >= 0 || (errno != ENOSYS && errno != EPERM)) {
    return base::Descriptor(static_cast<int>(opened));
  }
  return base::Descriptor(::open(path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
}

bool is_missing(int error) { return error == ENOENT || error == ENOTDIR; }

// Of a file that could not be opened with this error.
FoundFile without_file(const std::string& path, int error) {
  const auto other = [](std::string text) {
    return FoundFile{.change = FileChange::kOther, .text = std::move(text)};
  };
  if (error == ELOOP) return other(link_text(path));
  if (error == ENXIO) return other("'" + path + "' is not a regular file");  // a socket
  const std::string folder = std::filesystem::path(path).parent_path();
  if (is_missing(error)) {
    if (open_unfollowed(folder, O_PATH | O_DIRECTORY)) {
      return {.change = FileChange::kMissing, .text = "'" + path + "' is missing"};
    }
    error = errno;
    if (error == ELOOP) return other(link_text(path));
  }
  if (!is_missing(error)) {
    throw std::system_error(error, std::generic_category(), "'" + path + "'");
  }
  return {.change = FileChange::kAway,
          .text = "'" + path + "' is missing together with its folder '" + folder +
                  "': mount the file system, or cancel the item if the folder was removed"};
}

}  // namespace

FoundFile find_registered(const FileFacts& registered) {
  // O_NONBLOCK: a pipe must not keep the daemon waiting before it is refused.
  base::Descriptor file = open_unfollowed(registered.path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file) return without_file(registered.path, errno);
  FileFacts facts;
  std::string differs;
  try {
    facts = file_facts(file.get());
    differs = difference(registered, facts);
  } catch (const Invalid& error) {
    differs = error.what();
  }
  FileFacts unnumbered = registered;
  unnumbered.id = {};
  if (facts.path.empty() || !difference(unnumbered, facts).empty()) {
    return {.change = FileChange::kOther, .text = differs};
  }
  return {.change = differs.empty() ? FileChange::kNone : FileChange::kRenumbered,
          .text = differs,
          .descriptor = std::move(file),
          .ctime_ns = facts.ctime_ns,
          .id = facts.id};
}

std::string problem_of(const FoundFile& micrograph) {
  switch (micrograph.change) {
    case FileChange::kNone:
    case FileChange::kAway:
      break;
    case FileChange::kMissing:
      return micrograph.text + ": put it back and use `margay retry`";
    case FileChange::kOther:
    case FileChange::kRenumbered:
      return micrograph.text +
             ": put the registered file back, or enqueue the right one; `margay retry` searches a "
             "changed file as it is now, but follows no link";
  }
  return micrograph.text;
}

std::string difference(const FileFacts& registered, const FileFacts& found) {
  const std::string name = "'" + registered.path + "'";
  if (found.path != registered.path) return link_text(registered.path);
  if (found.bytes != registered.bytes) {
    return name + " changed since it was registered: " + std::to_string(registered.bytes) +
           " bytes then, " + std::to_string(found.bytes) + " now";
  }
  if (found.mtime_ns != registered.mtime_ns) {
    return name + " was written again since it was registered";
  }
  const db::FileId& id = registered.id;
  const bool same_mount = !id.mount.empty() && id.mount == found.id.mount;
  const bool other_inode = id.inode != 0 && id.inode != found.id.inode;
  if (other_inode || (same_mount && id.device != found.id.device)) {
    return name + " is another file than the registered one, of the same size and time";
  }
  return "";
}

FileFacts micrograph_of(const db::Item& item) {
  return {.path = item.micrograph_path,
          .bytes = item.micrograph_bytes,
          .mtime_ns = item.micrograph_mtime_ns,
          .id = item.micrograph_id};
}

FileFacts volume_of(const db::Template& search_template) {
  return {.path = search_template.volume_path,
          .bytes = search_template.volume_bytes,
          .mtime_ns = search_template.volume_mtime_ns,
          .id = search_template.volume_id};
}

}  // namespace scheduler
