// The environment variables of this process, and the name of its machine.
#pragma once

#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <string>

namespace base {

// Returns the value of an environment variable, or `otherwise` where it is unset or empty.
inline std::string variable(const char* name, const std::string& otherwise = "") {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

inline std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  ::gethostname(name, HOST_NAME_MAX);
  return name;
}

}  // namespace base
