// Reads small files whole.
#pragma once

#include <optional>
#include <string>

namespace base {

// Returns nullopt where there is no such file. Throws FileError naming a file that cannot be read.
std::optional<std::string> read_file(const std::string& path);

// Does what read_file() does for a name in an open folder.
std::optional<std::string> read_file_at(int folder, const std::string& name);

}  // namespace base
