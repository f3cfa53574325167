// margay watch
#pragma once

#include <chrono>
#include <string>

#include "scheduler/cli/items/watches.h"

namespace scheduler::cli {

struct WatchOptions {
  std::string file;  // the file with the watches
  Watch added{};
  int64_t id = 0;
  std::chrono::milliseconds settle{std::chrono::seconds(5)};
  std::chrono::milliseconds rescan{std::chrono::seconds(10)};
  bool once = false;  // end once every file has settled and been tried
};

// All but run_watches() return at once. All throw Failure.
Exit add_watch(const Context& context, const WatchOptions& options);
Exit list_watches(const Context& context, const WatchOptions& options);
Exit pause_watch(const Context& context, const WatchOptions& options, bool paused);
Exit remove_watch(const Context& context, const WatchOptions& options);

// Watches the folders as the user who runs it, and enqueues each file once it has settled and is a
// complete micrograph. If the daemon is not running, it waits for it.
Exit run_watches(const Context& context, const WatchOptions& options);

}  // namespace scheduler::cli
