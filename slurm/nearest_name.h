// For messages about a name that is not known.
#pragma once

#include <string>
#include <vector>

namespace slurm {

// "; did you mean 'x'?", or nothing when no known name is near.
std::string did_you_mean(const std::string& name, const std::vector<std::string>& known);

}  // namespace slurm
