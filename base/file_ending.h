// Kinds of files by their names.
#pragma once

#include <string>
#include <vector>

namespace base {

// Says that a file named `path`, written as `kind`, would not be what its name says: that of a
// table, a map, a STAR file, a picture or a compressed file. Returns "" where nothing is wrong, as
// with an ending that is none of theirs. `endings` are those of the kind, the usual one first.
std::string wrong_ending(const std::string& path, const std::string& kind,
                         const std::vector<std::string>& endings);

}  // namespace base
