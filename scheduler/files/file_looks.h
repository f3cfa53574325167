// Looks at registered files on a thread per owner, so that a hanging file system delays only the
// items of its own users, not the tick or other users.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "scheduler/files/owner_threads.h"
#include "scheduler/files/registered_file.h"

namespace scheduler {

// The result of find_registered() without the open file, since closing may hang, too.
struct SeenFile {
  FoundFile found{};
  int64_t needed_bytes = 0;  // disk space for a search of it
  std::string problem{};     // why it cannot be looked at now; empty: it was
  bool unanswered = false;   // its file system has not answered in time
};

// Looks on the calling thread.
SeenFile look_at(const FileFacts& registered);

class FileLooks {
 public:
  using Look = std::function<SeenFile(const FileFacts&)>;

  explicit FileLooks(Look look = look_at, OwnerThreadLimits limits = {})
      : look_(std::move(look)), threads_(limits) {}

  // See OwnerThreads.
  void begin_round() { threads_.begin_round(); }
  std::map<int64_t, std::string> hanging() const { return threads_.hanging(); }

  // Looks at the file on its owner's thread, and waits only as long as OwnerThreads does. A late
  // answer is returned by the next look at the same file within a minute. Called by one thread.
  SeenFile look(int64_t owner, const FileFacts& registered);

 private:
  struct Answer {
    FileFacts file;
    SeenFile seen{};
    std::chrono::steady_clock::time_point time{};
  };
  SeenFile unanswered(int64_t owner) const;

  Look look_;
  OwnerThreads threads_;
  std::map<int64_t, std::shared_ptr<Answer>> late_;  // written by the owner's thread until it ends
};

}  // namespace scheduler
