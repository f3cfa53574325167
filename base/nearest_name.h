// Suggestions for messages about an unknown name.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace base {

// Returns the known name at the smallest edit distance from `name`, ignoring case; two swapped
// neighbours count as one edit. Returns nullopt when none is near: at most half of the letters of a
// near one would have to change.
std::optional<std::string> nearest_name(const std::string& name,
                                        const std::vector<std::string>& known);

// Returns "; did you mean 'x'?", or nothing when no known name is near.
std::string did_you_mean(const std::string& name, const std::vector<std::string>& known);
// Returns "; did you mean 'x'? Known: x, y, z", or "; use x, y, z" when no known name is near.
std::string names_to_use(const std::string& name, const std::vector<std::string>& known);

}  // namespace base
