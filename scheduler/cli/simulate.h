// margay simulate: compares policies on a trace, from a file or from the daemon's records.
#pragma once

#include <string>
#include <vector>

#include "scheduler/cli/terminal/context.h"

namespace scheduler::cli {

struct SimulateOptions {
  std::string trace;         // path of the YAML file; alternatively from_history
  std::string from_history;  // a duration: simulate what arrived in it, from the daemon's records
  std::string save;          // path to save the trace from history; empty: it is not saved
  std::vector<std::string> policies;  // words of SimulatedPolicy; empty: all
  // Changes to the trace, "KEY=VALUE" or several separated by "; ", each simulated in addition to
  // the unchanged trace.
  std::vector<std::string> what_if;
  std::string pictures;  // folder for charts; empty: none
};
Exit simulate_trace(const Context& context, const SimulateOptions& options);

}  // namespace scheduler::cli
