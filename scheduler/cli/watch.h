// margay watch
#pragma once

#include <chrono>
#include <string>

#include "scheduler/cli/watches.h"

namespace scheduler::cli {

struct WatchOptions {
  std::string file;  // of the watches
  Watch added{};
  int64_t id = 0;
  std::chrono::milliseconds settle{std::chrono::seconds(5)};
  std::chrono::milliseconds rescan{std::chrono::seconds(10)};
  bool once = false;  // end when every file has settled and was tried
};

// Each but run_watches() returns at once. Throw Failure.
Exit add_watch(const Context& context, const WatchOptions& options);
Exit list_watches(const Context& context, const WatchOptions& options);
Exit pause_watch(const Context& context, const WatchOptions& options, bool paused);
Exit remove_watch(const Context& context, const WatchOptions& options);

// Watches the folders as the user who runs it, and enqueues each file once it has settled and is a
// whole micrograph. A daemon that is away is waited for.
Exit run_watches(const Context& context, const WatchOptions& options);

}  // namespace scheduler::cli
