// The lines with which rank 0 begins and ends the log of a search by several ranks. Pure.
#pragma once

#include <string>
#include <vector>

#include "engine/ranks/shared_devices.h"

namespace engine {

// "START: world size 3 on 2 hosts: rank 0 on n01 (GPU-1f), rank 1 on n01 (GPU-2e), rank 2 on n02".
std::string start_line(const std::vector<RankDevice>& ranks);

// "END: done after 12.3 s with world size 3". `outcome`: done, stopped, or failed and why.
std::string end_line(const std::string& outcome, double seconds, int ranks);

}  // namespace engine
