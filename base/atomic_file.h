// Writes a file that appears whole or not at all: it is written under a hidden name in the same
// folder, flushed, and renamed.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace base {

enum class Durability {
  kVisible,  // readers see the old file or the new one
  kOnDisk,   // as kVisible, and the new file survives a power cut
};

enum class Folder {
  kMustExist,  // a folder that is missing may be a file system that is not mounted
  kMake,       // missing folders are made
};

// Owns the hidden file; the destructor removes it unless it was committed.
class AtomicFile {
 public:
  // Makes the missing folders for kMake. Throws FileError naming the folder that cannot be made.
  AtomicFile(std::string path, Folder folder);
  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  AtomicFile& operator=(AtomicFile&&) = delete;

  const std::string& path() const { return path_; }
  // The path of the hidden file: the caller writes and flushes it before commit().
  const std::string& temporary() const { return temporary_; }
  // Makes the hidden file, empty and open for writing. Removes what a killed process left under
  // that name, and follows no link there. The process's umask applies to `mode`. Throws FileError.
  Descriptor create(mode_t mode = 0666) const;
  // Renames the hidden file to path(). The new name is durable only after sync_folder_of(path()).
  // Throws FileError.
  void commit();

 private:
  std::string path_;
  std::string temporary_;
};

struct WriteOptions {
  Durability durability = Durability::kOnDisk;
  Folder folder = Folder::kMustExist;
  mode_t mode = 0666;  // the process's umask applies
};

// Throws FileError naming the file, or the folder that is missing.
void write_file_atomically(const std::string& path, std::string_view bytes,
                           const WriteOptions& options = {});
// Writes the file only where no file has that name. Returns false where one has it, and leaves that
// one as it is; a file system with neither hard links nor RENAME_NOREPLACE replaces it.
bool write_new_file_atomically(const std::string& path, std::string_view bytes,
                               const WriteOptions& options = {});
// Does what write_file_atomically() does for a name in an open folder.
void write_file_atomically_at(int folder, const std::string& name, std::string_view bytes,
                              const WriteOptions& options = {});

// Returns the folder that holds `path`; "." for a name alone.
std::string folder_of(const std::string& path);

// Opens a folder for reading. Throws FileError naming it.
Descriptor open_folder(const std::string& path);

// Makes the names in the folder that holds `path` durable. Throws FileError.
void sync_folder_of(const std::string& path);

}  // namespace base
