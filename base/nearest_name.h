// For messages about a name that is not known.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace base {

// The known name that `name` was most likely meant to be, by edit distance without regard to case;
// two neighbours swapped count as one slip. nullopt when none is near.
std::optional<std::string> nearest_name(const std::string& name,
                                        const std::vector<std::string>& known);

// "; did you mean 'x'?", or nothing when no known name is near.
std::string did_you_mean(const std::string& name, const std::vector<std::string>& known);
// "; did you mean 'x'? Known: x, y, z", or "; use x, y, z" when no known name is near.
std::string names_to_use(const std::string& name, const std::vector<std::string>& known);

}  // namespace base
