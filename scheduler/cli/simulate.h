// margay simulate: compares policies on a trace, from a file or from what the daemon has recorded.
#pragma once

#include <string>
#include <vector>

#include "scheduler/cli/context.h"

namespace scheduler::cli {

struct SimulateOptions {
  std::string trace;         // path of the YAML file; or
  std::string from_history;  // ... a duration: what arrived in so long, as the daemon knows it
  std::string save;          // path for that trace; empty: it is not kept
  std::vector<std::string> policies;  // of SimulatedPolicy's words; empty: all
  // Changes to the trace, "KEY=VALUE" or several with "; " between them, each simulated beside the
  // trace as it is.
  std::vector<std::string> what_if;
  std::string pictures;  // folder for them; empty: none
};
Exit simulate_trace(const Context& context, const SimulateOptions& options);

}  // namespace scheduler::cli
