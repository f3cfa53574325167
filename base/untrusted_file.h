// Opens files that others may write, such as the files that a job leaves in its folder. Whatever
// has the name, opening it returns at once and reads no other file: symbolic links, pipes, devices
// and folders are refused, and so is a file that is longer than its reader expects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/descriptor.h"

namespace base {

// The name belongs to something that must not be read. what() is a sentence that begins with the
// name in quotes. A file that the system does not let us read is a FileError (base/error.h).
class UnfitFile : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct OpenFile {
  Descriptor descriptor;  // for reading
  int64_t size = 0;       // bytes, when it was opened
};

// Returns nullopt where there is no such file. The folders in the path may be links. Throws
// UnfitFile and FileError.
std::optional<OpenFile> open_untrusted(const std::string& path);
// Does what open_untrusted() does for a name in an open folder; messages call it `path`.
std::optional<OpenFile> open_untrusted_at(int folder, const std::string& name,
                                          const std::string& path);

// Opens a name in `folder`, which must not be a symbolic link either. Returns nullopt where the
// folder or the file is missing. Throws UnfitFile and FileError.
std::optional<OpenFile> open_untrusted_in(const std::string& folder, const std::string& name);
// Reads the whole file; nullopt where it is missing. Throws UnfitFile, also for a file of more than
// `most` bytes, and FileError.
std::optional<std::string> read_untrusted_in(const std::string& folder, const std::string& name,
                                             size_t most);
// Reads the last `most` bytes; empty where there is no such file. Throws UnfitFile and FileError.
std::string read_end_untrusted_in(const std::string& folder, const std::string& name, size_t most);

// Reads the whole of an open file. Throws UnfitFile where it holds more than `most` bytes, and
// FileError; `path` names the file in both.
std::string read_whole(const OpenFile& file, size_t most, const std::string& path);

}  // namespace base
