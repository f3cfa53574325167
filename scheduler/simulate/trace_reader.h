// A trace's YAML file into the struct (docs/policy.md, Simulation). Pure.
#pragma once

#include <string>

#include "scheduler/simulate/trace.h"

namespace scheduler {

// The same text gives the same items on every machine. `name` is the file's name in messages.
// Throws base::YamlError, which names the line and the key, for what is missing, unknown or out of
// range.
Trace parse_trace(const std::string& yaml, const std::string& name);

}  // namespace scheduler
