// margay list
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "scheduler/cli/items/selectors.h"
#include "scheduler/cli/terminal/context.h"

namespace scheduler::cli {

struct ListOptions {
  Filters filters{};
  int64_t limit = 0;     // 0: all
  bool all = false;      // also all ended items
  std::string format{};  // "csv", "json", or names of columns, separated by commas
  std::string sort{};    // a column; "-COLUMN": descending
  bool watch = false;    // redraw periodically
  std::chrono::milliseconds every{2000};
};

// Lists unfinished items first, those with a job before the others, then ended ones; within each
// group the newest are last. Without filters and without `all`, only the newest of the ended items
// are shown.
Exit list(const Context& context, const ListOptions& options);

}  // namespace scheduler::cli
