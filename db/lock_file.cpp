#include "db/lock_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "db/sqlite.h"

namespace db {
namespace {

std::string holder(int descriptor) {
  std::array<char, 32> text{};
  const ssize_t size = pread(descriptor, text.data(), text.size() - 1, 0);
  const std::string pid(text.data(), size > 0 ? static_cast<size_t>(size) : 0);
  const size_t digits = pid.find_first_not_of("0123456789");
  const std::string number = pid.substr(0, digits);
  return number.empty() ? "another process" : "process " + number;
}

// A daemon killed while it started a job may leave its lock to the job's wrapper for the instant
// until that becomes its own program: so not refused at the first look.
bool lock_with_timeout(int descriptor) {
  constexpr int kLooks = 50;
  constexpr auto kPause = std::chrono::milliseconds(20);
  for (int look = 0; look < kLooks; ++look) {
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return true;
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

}  // namespace

LockFile::LockFile(const std::string& path) {
  // Close-on-exec: a job that outlives the daemon must not keep the lock.
  file_ = base::Descriptor(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640));
  if (!file_) {
    throw DatabaseError("lock file '" + path + "' cannot be opened: " + std::strerror(errno));
  }
  if (!lock_with_timeout(file_.get())) {
    throw DatabaseHeld("'" + path + "' is held by " + holder(file_.get()) +
                       ": another margayd uses this database; stop it first");
  }
  const std::string pid = std::to_string(getpid()) + "\n";
  // Written first: what is cut off first may be another file's on a full disk.
  if (pwrite(file_.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size()) ||
      ftruncate(file_.get(), static_cast<off_t>(pid.size())) != 0) {
    throw DatabaseError("lock file '" + path + "' cannot be written: " + std::strerror(errno));
  }
}

}  // namespace db
