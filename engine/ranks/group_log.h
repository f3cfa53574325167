// The first and the last line that rank 0 logs of a search by several ranks. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "engine/ranks/shared_devices.h"

namespace engine {

// Returns for example "START: world size 3 on 2 hosts: rank 0 on n01 (GPU-1f), rank 1 on n01
// (GPU-2e), rank 2 on n02".
std::string start_line(const std::vector<RankDevice>& ranks);

// Returns for example "END: done after 12.3 s with world size 3". `outcome` is done, stopped or
// failed; why is the message that follows.
std::string end_line(const std::string& outcome, double seconds, int ranks);

}  // namespace engine
