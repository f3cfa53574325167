// margay wait: blocks until items have ended, showing their progress.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "scheduler/cli/terminal/context.h"

namespace scheduler::cli {

struct WaitOptions {
  std::vector<int64_t> items;
  bool chosen = false;  // wait for `items`; else for the caller's own unfinished ones
  bool all = false;     // or for all users' unfinished ones
  std::optional<std::chrono::milliseconds> timeout{};
  std::chrono::milliseconds poll{1000};
  // How long to wait for a daemon that does not answer: it may be restarting.
  std::chrono::milliseconds daemon_timeout{std::chrono::minutes(2)};
};

// Returns kOk when all are DONE, kFailed when one ended otherwise, kTimedOut when time ran out.
Exit wait(const Context& context, const WaitOptions& options);

}  // namespace scheduler::cli
