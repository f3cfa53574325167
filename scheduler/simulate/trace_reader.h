// A trace's YAML file into the struct (docs/policy.md, Simulation). Pure.
#pragma once

#include <string>
#include <vector>

#include "scheduler/simulate/trace.h"

namespace scheduler {

// Another value for a key of the file: "policy.classes.urgent.cap" and "4 nodes".
struct TraceChange {
  std::string key{};
  std::string value{};
};
// "site.nodes=18; policy.classes.urgent.cap=4 nodes"
std::string to_string(const std::vector<TraceChange>& changes);

// The same text gives the same items on every machine. `name` is the file's name in messages.
// Throws base::YamlError, which names the line and the key, for what is missing, unknown or out of
// range; with changes, it names these, too.
Trace parse_trace(const std::string& yaml, const std::string& name,
                  const std::vector<TraceChange>& changes = {});

}  // namespace scheduler
