// Looks up the system's groups by name.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace base {

struct GroupLookup {
  std::optional<gid_t> number{};  // nullopt with no error: there is no such group
  int error = 0;                  // the errno of a lookup that failed, so that nothing is known
};

// Looks up a group by its name, or reads the number from "#GID". May block while the system's
// database answers.
GroupLookup look_up_group(const std::string& name);

// Returns one clause that says why there is no number.
std::string problem_of(const GroupLookup& lookup, const std::string& name);

}  // namespace base
