// margay simulate: compares policies on a trace. It needs no daemon.
#pragma once

#include <string>
#include <vector>

#include "scheduler/cli/context.h"

namespace scheduler::cli {

struct SimulateOptions {
  std::string trace;                  // path of the YAML file
  std::vector<std::string> policies;  // of SimulatedPolicy's words; empty: all
  std::string pictures;               // folder for them; empty: none
};
Exit simulate_trace(const Context& context, const SimulateOptions& options);

}  // namespace scheduler::cli
