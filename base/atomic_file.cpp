#include "base/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "engine/error.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& what, const std::string& path, int error) {
  std::string message =
      "cannot " + what + " '" + path + "': " + std::generic_category().message(error);
  if (error == ENOSPC) message += "; the disk is full: free some space or choose another folder";
  if (error == EDQUOT) message += "; free some space or choose another folder";
  throw Error(ExitCode::kBadInput, message);
}

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// Fixed length, so that a name as long as the file system allows can still be written; the hash
// keeps files of one process apart.
std::string temporary_name(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  char text[64];
  std::snprintf(text, sizeof text, ".margay-%ld-%016zx.tmp", static_cast<long>(getpid()),
                std::hash<std::string>{}(name));
  return (fs::path(folder_of(path)) / text).string();
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags)
      : number_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  // A network file system tells of a full disk only here.
  int close() { return ::close(std::exchange(number_, -1)); }

 private:
  int number_;
};

void write_all(int descriptor, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path, errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

AtomicFile::AtomicFile(std::string path)
    : path_(std::move(path)), temporary_(temporary_name(path_)) {
  std::error_code error;
  const std::string folder = folder_of(path_);
  fs::create_directories(folder, error);
  if (error && !fs::is_directory(folder)) fail("make the folder", folder, error.value());
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, {})) {}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::commit() {
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("write", path_, errno);
  temporary_.clear();
}

void write_file_atomically(const std::string& path, std::string_view bytes, Durability durability) {
  AtomicFile file(path);
  Descriptor descriptor(file.temporary(), O_WRONLY | O_CREAT | O_TRUNC);
  if (descriptor.number() < 0) fail("write", path, errno);
  write_all(descriptor.number(), bytes, path);
  if (durability == Durability::kOnDisk && fsync(descriptor.number()) != 0) {
    fail("write", path, errno);
  }
  if (descriptor.close() != 0) fail("write", path, errno);
  file.commit();
  if (durability == Durability::kOnDisk) sync_folder_of(path);
}

void throw_write_error(const std::string& path, int error) { fail("write", path, error); }

void sync_folder_of(const std::string& path) {
  const std::string folder = folder_of(path);
  const Descriptor descriptor(folder, O_RDONLY | O_DIRECTORY);
  if (descriptor.number() < 0) fail("open the folder", folder, errno);
  // Some file systems have no such thing for folders, and say so with EINVAL.
  if (fsync(descriptor.number()) != 0 && errno != EINVAL) fail("flush the folder", folder, errno);
}

}  // namespace engine
