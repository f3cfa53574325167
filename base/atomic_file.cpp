#include "base/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace base {
namespace {

namespace fs = std::filesystem;

std::string name_of(const std::string& path) { return fs::path(path).filename().string(); }

// Fixed length, so that a name as long as the file system allows can still be written; the hash
// keeps files of one process apart.
std::string temporary_name(const std::string& name) {
  char text[64];
  std::snprintf(text, sizeof text, ".margay-%ld-%016zx.tmp", static_cast<long>(getpid()),
                std::hash<std::string>{}(name));
  return text;
}

void make_folder_of(const std::string& path) {
  std::error_code error;
  const std::string folder = folder_of(path);
  fs::create_directories(folder, error);
  if (error && !fs::is_directory(folder)) {
    throw FileError(error.value(), "cannot make the folder '" + folder + "'");
  }
}

void sync_folder(int folder, const std::string& path) {
  // Some file systems have no such thing for folders, and say so with EINVAL.
  if (::fsync(folder) != 0 && errno != EINVAL) {
    throw FileError(errno, "cannot flush the folder of '" + path + "'");
  }
}

enum class Existing { kReplace, kKeep };

// Some file systems have no second name for a file.
bool has_no_links(int error) { return error == EPERM || error == EOPNOTSUPP || error == ENOSYS; }

// Sets errno: EEXIST when the name is taken and to be kept.
bool put_in_place(int folder, const char* temporary, const char* name, Existing existing) {
  if (existing == Existing::kKeep) {
    if (::linkat(folder, temporary, folder, name, 0) == 0) {
      ::unlinkat(folder, temporary, 0);
      return true;
    }
    if (!has_no_links(errno)) return false;
    if (::renameat2(folder, temporary, folder, name, RENAME_NOREPLACE) == 0) return true;
    // A file system that has neither: an existing file is replaced.
    if (errno != EINVAL && errno != ENOSYS) return false;
  }
  return ::renameat(folder, temporary, folder, name) == 0;
}

// No link and no file that another user put in its place is written to.
Descriptor open_new(int folder, const std::string& temporary, mode_t mode,
                    const std::string& path) {
  ::unlinkat(folder, temporary.c_str(), 0);  // what a process that was killed left
  Descriptor file(::openat(folder, temporary.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!file && errno == EEXIST) {
    throw FileError(
        EEXIST, "cannot write '" + path + "' by way of '" + temporary + "' beside it; remove that");
  }
  if (!file) throw FileError(errno, "cannot write '" + path + "'");
  return file;
}

// `path` stands for the file in messages. False: the name was taken and is to be kept.
bool write_at(int folder, const std::string& name, std::string_view bytes,
              const WriteOptions& options, const std::string& path,
              Existing existing = Existing::kReplace) {
  const std::string temporary = temporary_name(name);
  const bool on_disk = options.durability == Durability::kOnDisk;
  Descriptor file = open_new(folder, temporary, options.mode, path);
  if (!write_all(file.get(), bytes) || (on_disk && ::fsync(file.get()) != 0) || file.close() != 0 ||
      !put_in_place(folder, temporary.c_str(), name.c_str(), existing)) {
    const int error = errno;
    ::unlinkat(folder, temporary.c_str(), 0);
    if (error == EEXIST && existing == Existing::kKeep) return false;
    throw FileError(error, "cannot write '" + path + "'");
  }
  if (on_disk) sync_folder(folder, path);
  return true;
}

}  // namespace

AtomicFile::AtomicFile(std::string path, Folder folder)
    : path_(std::move(path)),
      temporary_((fs::path(folder_of(path_)) / temporary_name(name_of(path_))).string()) {
  if (folder == Folder::kMake) make_folder_of(path_);
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, {})) {}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Descriptor AtomicFile::create(mode_t mode) const {
  return open_new(AT_FDCWD, temporary_, mode, path_);
}

void AtomicFile::commit() {
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw FileError(errno, "cannot write '" + path_ + "'");
  }
  temporary_.clear();
}

void write_file_atomically(const std::string& path, std::string_view bytes,
                           const WriteOptions& options) {
  if (options.folder == Folder::kMake) make_folder_of(path);
  write_at(open_folder(folder_of(path)).get(), name_of(path), bytes, options, path);
}

bool write_new_file_atomically(const std::string& path, std::string_view bytes,
                               const WriteOptions& options) {
  if (options.folder == Folder::kMake) make_folder_of(path);
  return write_at(open_folder(folder_of(path)).get(), name_of(path), bytes, options, path,
                  Existing::kKeep);
}

void write_file_atomically_at(int folder, const std::string& name, std::string_view bytes,
                              const WriteOptions& options) {
  write_at(folder, name, bytes, options, name);
}

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

Descriptor open_folder(const std::string& path) {
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) throw FileError(errno, "cannot open the folder '" + path + "'");
  return folder;
}

void sync_folder_of(const std::string& path) {
  sync_folder(open_folder(folder_of(path)).get(), path);
}

}  // namespace base
