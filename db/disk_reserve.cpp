#include "db/disk_reserve.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/descriptor.h"

namespace db {

void release_reserve(const std::string& path) { ::unlink(path.c_str()); }

void keep_reserve(const std::string& path) {
  const base::Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!file) return;
  struct statvfs disk {};
  const bool plenty =
      ::fstatvfs(file.get(), &disk) == 0 &&
      static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize) > 4 * kDiskReserve;
  if (!plenty || ::posix_fallocate(file.get(), 0, kDiskReserve) != 0) ::unlink(path.c_str());
}

}  // namespace db
