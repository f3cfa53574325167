#include "engine/launch/output_capture.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"

namespace engine {

OutputCapture::OutputCapture() : file_(::memfd_create("messages", MFD_CLOEXEC)) {
  if (!file_) base::throw_errno("cannot keep a process's messages");
}

std::string OutputCapture::text() const {
  constexpr off_t kMost = 64 * 1024;
  // By a reading that leaves the place where the process writes on.
  struct stat status = {};
  if (::fstat(file_.get(), &status) != 0) base::throw_errno("cannot read a process's messages");
  const off_t begin = std::max<off_t>(0, status.st_size - kMost);
  std::string text(static_cast<size_t>(status.st_size - begin), '\0');
  const ssize_t count = ::pread(file_.get(), text.data(), text.size(), begin);
  if (count < 0) base::throw_errno("cannot read a process's messages");
  text.resize(static_cast<size_t>(count));
  return begin == 0 ? text : text.substr(text.find('\n') + 1);
}

}  // namespace engine
