// Files that users registered by an open descriptor, found again by their paths. The paths belong
// to the users, who may replace theirs by another file, or by a link to one that they cannot read:
// no link is followed, and nothing but the registered file is accepted.
#pragma once

#include <string>

#include "base/descriptor.h"
#include "db/records.h"
#include "scheduler/files/file_io.h"

namespace scheduler {

enum class FileChange {
  kNone,
  kAway,     // missing together with its folder, as on a file system that is not mounted
  kMissing,  // missing, but its folder exists
  kOther,    // something else than the registered file
  // Only the inode differs: another file, or the same one on a file system that renumbers its files
  // at each mount. Its content decides.
  kRenumbered,
};

struct FoundFile {
  FileChange change = FileChange::kNone;
  std::string text{};             // "'PATH' is missing"; empty for kNone
  base::Descriptor descriptor{};  // open for reading, for kNone and kRenumbered
  int64_t ctime_ns = 0;           // for kNone and kRenumbered
  db::FileId id{};                // for kNone and kRenumbered
};

// Throws std::system_error when the file cannot be looked at, which proves nothing.
FoundFile find_registered(const FileFacts& registered);

// `text` with what to do about it.
std::string problem_of(const FoundFile& micrograph);

// How a file differs from the registered one; empty when it does not. Pure. An inode that was not
// stored is not compared, and device numbers are compared only within one boot and mount.
std::string difference(const FileFacts& registered, const FileFacts& found);

FileFacts micrograph_of(const db::Item& item);
FileFacts volume_of(const db::Template& search_template);

}  // namespace scheduler
