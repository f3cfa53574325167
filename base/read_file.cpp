#include "base/read_file.h"

#include <fcntl.h>

#include <cerrno>

#include "base/descriptor.h"
#include "base/error.h"

namespace base {

std::optional<std::string> read_file(const std::string& path) {
  return read_file_at(AT_FDCWD, path);
}

std::optional<std::string> read_file_at(int folder, const std::string& name) {
  const Descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::nullopt;
  std::optional<std::string> text;
  if (file) text = read_all(file.get());
  if (!text) throw FileError(errno, "cannot read '" + name + "'");
  return text;
}

}  // namespace base
