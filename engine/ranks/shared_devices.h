// Whether every rank has a device of its own: only the ranks together can see that. Pure.
#pragma once

#include <string>
#include <vector>

namespace engine {

struct RankDevice {
  int rank = 0;
  std::string host;
  std::string identity;  // the same for no other device; empty: a processor, or not known
};

// Which ranks have the same device and what to do, for the first device that is shared; empty:
// none.
std::string shared_device(const std::vector<RankDevice>& ranks);

}  // namespace engine
