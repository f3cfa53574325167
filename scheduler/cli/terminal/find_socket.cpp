#include "scheduler/cli/terminal/find_socket.h"

#include <cerrno>
#include <chrono>
#include <system_error>

#include "base/text.h"
#include "scheduler/http/unix_socket.h"

namespace scheduler::cli {
namespace {

constexpr std::chrono::milliseconds kPatience{1000};

// 0: somebody listens.
int error_at(const std::string& path) {
  try {
    api::connect_to(path, kPatience);
    return 0;
  } catch (const std::system_error& error) {
    return error.code().value();
  } catch (const std::runtime_error&) {
    return ENAMETOOLONG;  // no daemon can have this path
  }
}

bool is_nobody(int error) {
  return error == ENOENT || error == ENOTDIR || error == ECONNREFUSED || error == ENAMETOOLONG;
}

}  // namespace

FoundSocket find_socket(const std::string& named, const std::vector<std::string>& places) {
  if (!named.empty()) return {.path = named};
  std::vector<std::string> tried;
  for (const std::string& place : places) {
    const int error = error_at(place);
    if (!is_nobody(error)) return {.path = place};
    tried.push_back(place + (error == ECONNREFUSED ? " (nobody listens)" : " (does not exist)"));
  }
  return {.path = places.front(),
          .none = "no daemon found at " + base::joined(tried, ", ") +
                  "; start margayd, or give its socket with --socket or MARGAY_SOCKET"};
}

}  // namespace scheduler::cli
