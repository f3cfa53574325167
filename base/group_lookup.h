// Groups of the system by their names.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace base {

struct GroupLookup {
  std::optional<gid_t> number{};
  int error = 0;  // an errno: the system's database did not answer, and nothing is known
};

// Of a group by its name or "#GID". May wait for the system's database.
GroupLookup look_up_group(const std::string& name);

// One clause that says why there is no number.
std::string problem_of(const GroupLookup& lookup, const std::string& name);

}  // namespace base
