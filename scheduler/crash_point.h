// Named places around every commit and every submission at which a test ends the process, to prove
// that nothing is lost or duplicated there.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace scheduler {

// Called with the name of each point as it is reached, by any thread. Not set outside of tests.
using CrashHook = std::function<void(const std::string&)>;

inline void reach(const CrashHook& hook, const char* name) {
  if (hook) hook(name);
}

// The names of the crash points of searches.
const std::vector<std::string>& crash_point_names();
// The names of the crash points of removals.
const std::vector<std::string>& housekeeping_points();

// A hook that aborts the process at the point `armed`, or at the third time with "name:3"; empty
// for an empty `armed`. Throws std::invalid_argument for an unknown name.
CrashHook abort_at(const std::string& armed);

}  // namespace scheduler
