// A trace's YAML file into the struct (docs/policy.md, Simulation). Pure.
#pragma once

#include <string>

#include "scheduler/simulate/trace.h"

namespace scheduler {

// The same text gives the same items on every machine. `name` stands for the file in messages,
// which name the line and the key, too. Throws base::YamlError.
Trace parse_trace(const std::string& yaml, const std::string& name);

}  // namespace scheduler
