// Makes a trace for `margay simulate` from the daemon's records.
#pragma once

#include <cstdint>
#include <string>

#include "scheduler/cli/terminal/context.h"

namespace scheduler::cli {

struct HistoryTrace {
  std::string yaml{};
  int64_t given_up = 0;  // items left out since they failed or were cancelled
  int64_t unknown = 0;   // items left out since it is not known how long they take
};

// The trace of the items that arrived in the last `time`, a duration. Throws Failure when there is
// none, or the daemon does not know the site.
HistoryTrace trace_of_history(const Context& context, const std::string& time);

}  // namespace scheduler::cli
