#include "scheduler/cli/items/folder_events.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>

namespace scheduler::cli {

FolderEvents::FolderEvents() : events_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {}

void FolderEvents::add(const std::string& directory) {
  if (!events_ || !watched_.insert(directory).second) return;
  const auto mask = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ONLYDIR;
  if (::inotify_add_watch(events_.get(), directory.c_str(), mask) < 0) watched_.erase(directory);
}

void FolderEvents::wait(std::chrono::milliseconds shortest,
                        std::chrono::milliseconds longest) const {
  std::this_thread::sleep_for(shortest);
  const auto rest = std::max(longest - shortest, std::chrono::milliseconds(0));
  pollfd wanted{.fd = events_.get(), .events = POLLIN, .revents = 0};
  ::poll(&wanted, events_ ? 1 : 0, static_cast<int>(rest.count()));
  std::array<char, 8192> drained{};
  while (events_ && ::read(events_.get(), drained.data(), drained.size()) > 0) continue;
}

}  // namespace scheduler::cli
