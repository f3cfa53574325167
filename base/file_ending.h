// Checks the endings of file names.
#pragma once

#include <string>
#include <vector>

namespace base {

// Returns a message where `path`, which is to be written as `kind`, has the ending of another kind
// of file: of a table, a map, a STAR file, an image or a compressed file. Returns "" otherwise,
// also for an ending of no known kind. `endings` are those of `kind`, the usual one first.
std::string wrong_ending(const std::string& path, const std::string& kind,
                         const std::vector<std::string>& endings);

}  // namespace base
