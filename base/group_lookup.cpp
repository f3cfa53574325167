#include "base/group_lookup.h"

#include <grp.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/parse_number.h"

namespace base {

namespace {

constexpr size_t kMostBytes = size_t{1} << 24;  // of a group's entry

}  // namespace

GroupLookup look_up_group(const std::string& name) {
  if (name.empty()) return {};
  if (name[0] == '#') return {.number = parse_number<gid_t>(name.substr(1))};
  std::vector<char> buffer(16384);
  ::group entry{};
  ::group* found = nullptr;
  int error = 0;
  for (;;) {
    error = ::getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (error == ERANGE && buffer.size() < kMostBytes) {
      buffer.resize(buffer.size() * 2);
    } else if (error != EINTR) {
      break;
    }
  }
  if (found != nullptr) return {.number = found->gr_gid};
  // Some databases say so of a name that they do not know (getgrnam(3)).
  return {.error = error == ENOENT || error == ESRCH ? 0 : error};
}

std::string problem_of(const GroupLookup& lookup, const std::string& name) {
  if (lookup.error == 0) return "there is no group '" + name + "' on this machine";
  return "group '" + name + "' cannot be looked up now: " + std::strerror(lookup.error);
}

}  // namespace base
