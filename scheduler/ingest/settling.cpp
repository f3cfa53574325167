#include "scheduler/ingest/settling.h"

#include <utility>

namespace scheduler::ingest {

std::vector<FileLook> Settling::settled(const std::vector<FileLook>& found, Time now) {
  std::map<std::string, Seen> seen;
  std::vector<FileLook> ready;
  waiting_ = 0;
  for (const FileLook& file : found) {
    const auto dealt = dealt_with_.find(file.path);
    if (dealt != dealt_with_.end() && dealt->second == file) continue;
    const auto before = seen_.find(file.path);
    const bool same = before != seen_.end() && before->second.look == file;
    const Time since = same ? before->second.since : now;
    if (now - since >= settle_) {
      ready.push_back(file);
    } else {
      ++waiting_;
    }
    seen[file.path] = {.look = file, .since = since};
  }
  seen_ = std::move(seen);
  return ready;
}

void Settling::postpone(const std::string& path, Time now) {
  const auto found = seen_.find(path);
  if (found != seen_.end()) found->second.since = now;
}

}  // namespace scheduler::ingest
