// margay list
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "scheduler/cli/context.h"
#include "scheduler/cli/selectors.h"

namespace scheduler::cli {

struct ListOptions {
  Filters filters{};
  int64_t limit = 0;     // 0: all
  bool all = false;      // also all that have ended
  std::string format{};  // "csv", "json", or names of columns, separated by commas
  std::string sort{};    // a column, "-COLUMN" downwards
  bool watch = false;    // again and again
  std::chrono::milliseconds every{2000};
};

// Live items first, those with a job before the others, then what has ended; within each the newest
// last. Without filters and without `all` only the newest of those that have ended.
Exit list(const Context& context, const ListOptions& options);

}  // namespace scheduler::cli
