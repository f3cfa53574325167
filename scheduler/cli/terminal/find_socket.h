// Finds the daemon that `margay` talks to.
#pragma once

#include <string>
#include <vector>

namespace scheduler::cli {

struct FoundSocket {
  std::string path{};
  // Message for when no daemon answers there: which places were tried. Empty: the user named the
  // socket, or a daemon listens there.
  std::string none{};
};

// Returns `named` (from --socket or MARGAY_SOCKET) unless it is empty; else the first of `places`
// at which a daemon listens or that this user may not open; else the first.
FoundSocket find_socket(const std::string& named, const std::vector<std::string>& places);

}  // namespace scheduler::cli
