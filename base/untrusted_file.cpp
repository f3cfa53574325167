#include "base/untrusted_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/size_text.h"

namespace base {
namespace {

std::string too_long(const std::string& path, size_t most) {
  return "'" + path + "' is longer than " + size_text(static_cast<int64_t>(most)) +
         ", more than such a file ever holds";
}

}  // namespace

std::optional<OpenFile> open_untrusted(const std::string& path) {
  return open_untrusted_at(AT_FDCWD, path, path);
}

std::optional<OpenFile> open_untrusted_at(int folder, const std::string& name,
                                          const std::string& path) {
  // A pipe without a writer, or a device, would keep an open without O_NONBLOCK waiting.
  OpenFile file{
      .descriptor = Descriptor(::openat(
          folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC))};
  if (!file.descriptor && errno == ENOENT) return std::nullopt;
  if (!file.descriptor && errno == ELOOP) {
    throw UnfitFile("'" + path + "' is a symbolic link, which is not followed");
  }
  // ENXIO: a socket.
  if (!file.descriptor && errno != ENXIO) throw FileError(errno, "cannot read '" + path + "'");
  struct stat facts {};
  if (file.descriptor && ::fstat(file.descriptor.get(), &facts) != 0) {
    throw FileError(errno, "cannot read '" + path + "'");
  }
  if (!S_ISREG(facts.st_mode)) throw UnfitFile("'" + path + "' is not a regular file");
  file.size = facts.st_size;
  return file;
}

std::optional<OpenFile> open_untrusted_in(const std::string& folder, const std::string& name) {
  const Descriptor open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!open && errno == ENOENT) return std::nullopt;
  // The kernel calls a link ENOTDIR here.
  if (!open && (errno == ENOTDIR || errno == ELOOP)) {
    throw UnfitFile("'" + folder + "' is a symbolic link or no folder");
  }
  if (!open) throw FileError(errno, "cannot read '" + folder + "'");
  return open_untrusted_at(open.get(), name, folder + "/" + name);
}

std::optional<std::string> read_untrusted_in(const std::string& folder, const std::string& name,
                                             size_t most) {
  const auto file = open_untrusted_in(folder, name);
  if (!file) return std::nullopt;
  return read_whole(*file, most, folder + "/" + name);
}

std::string read_end_untrusted_in(const std::string& folder, const std::string& name, size_t most) {
  const auto file = open_untrusted_in(folder, name);
  if (!file) return "";
  const int64_t start = std::max<int64_t>(0, file->size - static_cast<int64_t>(most));
  std::optional<std::string> text;
  if (::lseek(file->descriptor.get(), start, SEEK_SET) >= 0) {
    text = read_all(file->descriptor.get(), most);
  }
  if (!text) throw FileError(errno, "cannot read '" + folder + "/" + name + "'");
  return std::move(*text);
}

std::string read_whole(const OpenFile& file, size_t most, const std::string& path) {
  if (file.size > static_cast<int64_t>(most)) throw UnfitFile(too_long(path, most));
  // It may grow while it is read.
  auto text = read_all(file.descriptor.get(), most + 1);
  if (!text) throw FileError(errno, "cannot read '" + path + "'");
  if (text->size() > most) throw UnfitFile(too_long(path, most));
  return std::move(*text);
}

}  // namespace base
