#include "scheduler/files/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/read_file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/utf8.h"
#include "scheduler/errors.h"

namespace scheduler {
namespace {

std::string canonical_path(int descriptor) {
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  std::vector<char> target(PATH_MAX);
  const ssize_t size = readlink(link.c_str(), target.data(), target.size());
  if (size <= 0) throw Invalid("an open file whose name cannot be found");
  return {target.data(), static_cast<size_t>(size)};
}

int64_t nanoseconds_of(const timespec& time) {
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

// The number of a mount is given anew after a boot. The kept text is never freed, since a thread
// that a file system kept waiting may read it while the process exits.
std::string mount_of(int descriptor) {
  static const auto& boot = *new const auto(base::read_file("/proc/sys/kernel/random/boot_id"));
  if (!boot) return "";
  const std::string prefix = base::trimmed(*boot) + "/";
  struct statx facts {};
  constexpr int kOfDescriptor = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
  if (::statx(descriptor, "", kOfDescriptor, STATX_MNT_ID, &facts) == 0 &&
      (facts.stx_mask & STATX_MNT_ID) != 0) {
    return prefix + std::to_string(facts.stx_mnt_id);
  }
  // The same number, from kernels before 5.8.
  std::istringstream info(
      base::read_file("/proc/self/fdinfo/" + std::to_string(descriptor)).value_or(""));
  for (std::string name, value; info >> name >> value;) {
    if (name == "mnt_id:") return prefix + value;
  }
  return "";
}

}  // namespace

FileFacts file_facts(int descriptor) {
  struct stat facts {};
  std::string path = canonical_path(descriptor);
  if (fstat(descriptor, &facts) != 0) {
    throw Invalid("'" + path + "': " + std::strerror(errno));
  }
  if (!S_ISREG(facts.st_mode)) throw Invalid("'" + path + "' is not a regular file");
  if (facts.st_nlink == 0) {
    constexpr std::string_view kDeleted = " (deleted)";  // the kernel's
    if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
    throw Invalid("'" + path + "' was deleted meanwhile");
  }
  if (!base::is_utf8(path)) {
    throw Invalid("the name of '" + path + "' is not valid UTF-8: rename the file or its folder");
  }
  return {.path = path,
          .bytes = facts.st_size,
          .mtime_ns = nanoseconds_of(facts.st_mtim),
          .id = {.inode = static_cast<int64_t>(facts.st_ino),
                 .device = static_cast<int64_t>(facts.st_dev),
                 .mount = mount_of(descriptor)},
          .ctime_ns = nanoseconds_of(facts.st_ctim)};
}

FileFacts file_facts(const std::string& path) {
  const base::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) throw Invalid("'" + path + "' cannot be read: " + std::strerror(errno));
  return file_facts(file.get());
}

std::optional<std::string> hash_file_unless(int descriptor, int64_t bytes,
                                            const std::function<bool()>& is_stopped) {
  base::Sha256 hash;
  std::vector<char> block(std::clamp<size_t>(static_cast<size_t>(bytes), 1, size_t{1} << 20));
  for (off_t offset = 0;;) {
    if (is_stopped()) return std::nullopt;
    const auto wanted = std::min<size_t>(block.size(), static_cast<size_t>(bytes - offset));
    const ssize_t got = ::pread(descriptor, block.data(), wanted, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw base::FileError(errno, "cannot read '" + canonical_path(descriptor) + "'");
    if (got == 0) return hash.hex();
    hash.add(block.data(), static_cast<size_t>(got));
    offset += got;
  }
}

}  // namespace scheduler
