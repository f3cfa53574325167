// Finds ranks that have the same device, which only the ranks together can see. Pure.
#pragma once

#include <string>
#include <vector>

namespace engine {

struct RankDevice {
  int rank = 0;
  std::string host;
  std::string identity;  // unique to the device; empty: a processor, or not known
};

// Names the ranks that have the first shared device, and what to do; empty where no device is
// shared.
std::string shared_device(const std::vector<RankDevice>& ranks);

}  // namespace engine
