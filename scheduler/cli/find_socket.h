// Which daemon `margay` talks to.
#pragma once

#include <string>
#include <vector>

namespace scheduler::cli {

struct FoundSocket {
  std::string path{};
  // What to say when no daemon answers there: which places were tried. Empty: the socket was named
  // by the user, or a daemon listens there.
  std::string none{};
};

// `named` by --socket or MARGAY_SOCKET; else the first of `places` at which somebody listens or
// that this user may not open; else the first.
FoundSocket find_socket(const std::string& named, const std::vector<std::string>& places);

}  // namespace scheduler::cli
