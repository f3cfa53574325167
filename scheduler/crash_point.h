// Named places around every commit and every submission at which a test ends the process, to prove
// that nothing is lost or doubled there.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace scheduler {

// Called with the name of each point as it is reached; empty = nothing happens.
using CrashHook = std::function<void(const std::string&)>;

inline void reach(const CrashHook& hook, const char* name) {
  if (hook) hook(name);
}

// Every name there is.
const std::vector<std::string>& crash_point_names();

// Aborts when `armed` is reached; "name:3" at the third time. An empty `armed` never does. Throws
// std::invalid_argument for a name that does not exist.
CrashHook abort_at(const std::string& armed);

}  // namespace scheduler
