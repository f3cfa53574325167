// Kinds of files by their names.
#pragma once

#include <string>
#include <vector>

namespace base {

// Says that a file named `path` would not be what its name says, when it is written as `kind` and
// ends like a file of another kind; "" where nothing is wrong. `endings` are those of the kind, the
// usual one first.
std::string wrong_ending(const std::string& path, const std::string& kind,
                         const std::vector<std::string>& endings);

}  // namespace base
