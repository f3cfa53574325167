// A file that appears whole or not at all: written under a hidden name beside its place, flushed,
// and renamed.
#pragma once

#include <string>
#include <string_view>

namespace engine {

// Owns the hidden name; what was not committed is removed.
class AtomicFile {
 public:
  // Makes missing folders. Throws Error naming the folder.
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  AtomicFile& operator=(AtomicFile&&) = delete;

  const std::string& path() const { return path_; }
  // Write here, and flush, before commit().
  const std::string& temporary() const { return temporary_; }
  // Renames into place. Durable only after sync_folder_of(path()).
  void commit();

 private:
  std::string path_;
  std::string temporary_;
};

enum class Durability {
  kVisible,  // readers see the old file or the new one
  kOnDisk,   // and the new one survives a power cut
};

// Throws Error naming the file; a full disk is called so.
void write_file_atomically(const std::string& path, std::string_view bytes, Durability durability);

// Throws Error naming the file, with the words of the system's `error` and what to do.
[[noreturn]] void throw_write_error(const std::string& path, int error);

// Makes the names in the folder that holds `path` durable.
void sync_folder_of(const std::string& path);

}  // namespace engine
