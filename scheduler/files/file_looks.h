// Looks at registered files on threads of their owners: a file system that hangs holds its own
// user's items, and neither the tick nor anybody else's.
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

// What find_registered() found, without the open file: closing it may never end, either.
struct SeenFile {
  FoundFile found{};
  int64_t needed_bytes = 0;  // of disk, for a search of it
  std::string problem{};     // why it cannot be looked at just now; empty: it was
  bool unanswered = false;   // its file system has not answered in time
};

// By the thread that calls it.
SeenFile look_at(const FileFacts& registered);

class FileLooks {
 public:
  using Look = std::function<SeenFile(const FileFacts&)>;

  explicit FileLooks(Look look = look_at, OwnerThreadLimits limits = {})
      : look_(std::move(look)), threads_(limits) {}

  // See OwnerThreads.
  void begin_round() { threads_.begin_round(); }
  std::map<int64_t, std::string> hanging() const { return threads_.hanging(); }

  // Waits for the answer only as long as OwnerThreads does. One that came late is that of the next
  // look at the same file within a minute. Called by one thread.
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
