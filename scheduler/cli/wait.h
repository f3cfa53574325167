// margay wait: blocks until items have ended, and shows their progress meanwhile.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "scheduler/cli/context.h"

namespace scheduler::cli {

struct WaitOptions {
  std::vector<int64_t> items;
  bool chosen = false;  // these items, if there are any; else the caller's own unfinished ones,
  bool all = false;     // or all users' unfinished ones
  std::optional<std::chrono::milliseconds> timeout{};
  std::chrono::milliseconds poll{1000};
  // How long a daemon that does not answer is waited for: it may be restarting.
  std::chrono::milliseconds daemon_timeout{std::chrono::minutes(2)};
};

// Returns kOk when all are DONE, kFailed when one ended otherwise, kTimedOut.
Exit wait(const Context& context, const WaitOptions& options);

}  // namespace scheduler::cli
