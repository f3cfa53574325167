// margay wait: until items have ended, with their progress meanwhile.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scheduler/cli/context.h"

namespace scheduler::cli {

struct WaitOptions {
  std::vector<int64_t> items;  // none: the caller's own that have not ended
  bool all = false;            // everybody's
  std::optional<std::chrono::milliseconds> timeout;
  std::chrono::milliseconds poll{1000};
  // The daemon may be restarted meanwhile: for so long it is waited for as well.
  std::chrono::milliseconds patience{std::chrono::minutes(2)};
};

// kOk: all DONE; kFailed: one ended otherwise; kTimedOut.
Exit wait(const Context& context, const WaitOptions& options);

bool has_ended(const std::string& state);

// What the engine tells about a running search.
struct Progress {
  double done = 0;
  double total = 0;
  double rate = 0;  // correlations per second
  double eta_seconds = 0;
  double best_z = 0;
  std::string state;  // starting, running, writing
};
std::optional<Progress> progress_of(const nlohmann::json& item);
struct ProgressRow {
  int64_t item = 0;
  std::string name;  // printable
  std::optional<Progress> progress;
};
// One line for each, `columns` cells at most: item, micrograph, bar, percent, rate, time left, best
// z; names and bars stand under each other. `columns` 0: no bars.
std::vector<std::string> progress_lines(const std::vector<ProgressRow>& rows, int columns);

}  // namespace scheduler::cli
