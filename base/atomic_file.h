// A file that appears whole or not at all: written under a hidden name beside its place, flushed,
// and renamed.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace base {

enum class Durability {
  kVisible,  // readers see the old file or the new one
  kOnDisk,   // and the new one survives a power cut
};

enum class Folder {
  kMustExist,  // a folder that is missing may be a file system that is not mounted
  kMake,       // missing folders are made
};

// Owns the hidden name; what was not committed is removed.
class AtomicFile {
 public:
  // Throws FileError naming the folder that cannot be made.
  AtomicFile(std::string path, Folder folder);
  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  AtomicFile& operator=(AtomicFile&&) = delete;

  const std::string& path() const { return path_; }
  // Write here, and flush, before commit().
  const std::string& temporary() const { return temporary_; }
  // Makes the file there, empty and open for writing, in place of what a process that was killed
  // left; no link that stands there is followed. `mode` is less the process's umask. Throws
  // FileError.
  Descriptor create(mode_t mode = 0666) const;
  // Renames into place. Durable only after sync_folder_of(path()). Throws FileError.
  void commit();

 private:
  std::string path_;
  std::string temporary_;
};

struct WriteOptions {
  Durability durability = Durability::kOnDisk;
  Folder folder = Folder::kMustExist;
  mode_t mode = 0666;  // less the process's umask
};

// Throws FileError naming the file, or the folder that is not there.
void write_file_atomically(const std::string& path, std::string_view bytes,
                           const WriteOptions& options = {});
// The same where no file has that name. False: one has it and stays as it is.
bool write_new_file_atomically(const std::string& path, std::string_view bytes,
                               const WriteOptions& options = {});
// As write_file_atomically(), for a name in an open folder.
void write_file_atomically_at(int folder, const std::string& name, std::string_view bytes,
                              const WriteOptions& options = {});

// The folder that holds `path`, "." for a name alone.
std::string folder_of(const std::string& path);

// Throws FileError naming the folder.
Descriptor open_folder(const std::string& path);

// Makes the names in the folder that holds `path` durable. Throws FileError.
void sync_folder_of(const std::string& path);

}  // namespace base
