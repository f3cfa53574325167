// Small files, read whole.
#pragma once

#include <optional>
#include <string>

namespace base {

// nullopt when there is no such file. Throws FileError naming it.
std::optional<std::string> read_file(const std::string& path);

// The same for a name in an open folder.
std::optional<std::string> read_file_at(int folder, const std::string& name);

}  // namespace base
