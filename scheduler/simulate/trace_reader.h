// Reads a trace's YAML file (docs/policy.md, Simulation). Pure.
#pragma once

#include <string>
#include <vector>

#include "scheduler/simulate/trace.h"

namespace scheduler {

// A replacement value for a key of the file: "policy.classes.urgent.cap" and "4 nodes".
struct TraceChange {
  std::string key{};
  std::string value{};
};
// "site.nodes=18; policy.classes.urgent.cap=4 nodes"
std::string to_string(const std::vector<TraceChange>& changes);

// The same text gives the same items on every machine. `name` is the file's name in messages.
// Throws base::YamlError, naming the line and the key, for values that are missing, unknown or out
// of range; the message names the changes, too, if there are any.
Trace parse_trace(const std::string& yaml, const std::string& name,
                  const std::vector<TraceChange>& changes = {});

}  // namespace scheduler
