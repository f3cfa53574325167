// Finds ranks that have the same device, which no rank can see alone. Pure functions.
#pragma once

#include <string>
#include <vector>

namespace engine {

struct RankDevice {
  int rank = 0;
  std::string host;
  std::string identity;  // unique to the device; empty: a CPU, or not known
};

// Returns a message that names the ranks that have the first shared device, and says what to do;
// empty where no device is shared.
std::string shared_device(const std::vector<RankDevice>& ranks);

}  // namespace engine
