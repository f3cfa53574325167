// Files that others may write, such as those that a job leaves in its folder. Whatever stands under
// the name, opening it returns at once and reads no other file: symbolic links, pipes, devices and
// folders are refused, and so is what is longer than its reader expects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/descriptor.h"

namespace base {

// What stands under the name is no file that may be read. what() is a sentence that begins with the
// name in quotes. What the system refuses for other reasons is a FileError (base/error.h).
class UnfitFile : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct OpenFile {
  Descriptor descriptor;  // for reading
  int64_t size = 0;       // when it was opened
};

// nullopt when there is no such file. The folders on the way may be links. Throws UnfitFile and
// FileError.
std::optional<OpenFile> open_untrusted(const std::string& path);
// The same for a name in an open folder; messages call it `path`.
std::optional<OpenFile> open_untrusted_at(int folder, const std::string& name,
                                          const std::string& path);

// A name in the folder of that path, which is refused like a file where it is a symbolic link.
std::optional<OpenFile> open_untrusted_in(const std::string& folder, const std::string& name);
// The whole of it. Throws UnfitFile also when it holds more than `most` bytes.
std::optional<std::string> read_untrusted_in(const std::string& folder, const std::string& name,
                                             size_t most);
// The last `most` bytes; empty when there is no such file.
std::string read_end_untrusted_in(const std::string& folder, const std::string& name, size_t most);

// The whole of an open file. Throws UnfitFile when it holds more than `most` bytes, and FileError.
std::string read_whole(const OpenFile& file, size_t most, const std::string& path);

}  // namespace base
