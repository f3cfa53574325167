#include "scheduler/api/callers.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scheduler/errors.h"

namespace scheduler::api {
namespace {

// Throws Unavailable when nobody can say, which is not that there is no such group.
std::optional<std::string> group_name(gid_t gid) {
  constexpr size_t kLongestEntry = size_t{16} << 20;
  std::vector<char> buffer(65536);
  for (;;) {
    group entry{};
    group* found = nullptr;
    const int error = ::getgrgid_r(gid, &entry, buffer.data(), buffer.size(), &found);
    if (found != nullptr) return found->gr_name;
    if (error == EINTR) continue;
    if (error == ERANGE && buffer.size() < kLongestEntry) {
      buffer.resize(buffer.size() * 2);
      continue;
    }
    // Of the others some systems say that there is no such group.
    const std::set<int> temporary = {EAGAIN, EIO, EMFILE, ENFILE, ENOMEM, ERANGE};
    if (!temporary.contains(error)) return std::nullopt;
    throw Unavailable("the name of group " + std::to_string(gid) + " cannot be looked up (" +
                      std::strerror(error) + "); try again");
  }
}

// The primary one and those that name the user as a member.
std::set<std::string> groups_of(const std::string& user, gid_t primary) {
  int count = 64;
  std::vector<gid_t> gids(static_cast<size_t>(count));
  if (::getgrouplist(user.c_str(), primary, gids.data(), &count) < 0) {
    gids.resize(static_cast<size_t>(count));
    if (::getgrouplist(user.c_str(), primary, gids.data(), &count) < 0) count = 0;
  }
  gids.resize(static_cast<size_t>(count));
  std::set<std::string> names;
  for (const gid_t gid : gids) names.insert(group_name(gid).value_or(std::to_string(gid)));
  return names;
}

}  // namespace

Caller caller_of(const Peer& peer) {
  std::array<char, 16384> buffer;
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(peer.uid, &entry, buffer.data(), buffer.size(), &found);
  Caller caller;
  caller.uid = peer.uid;
  caller.name = found != nullptr ? found->pw_name : std::to_string(peer.uid);
  caller.privileged = peer.uid == 0 || peer.uid == ::geteuid();
  const gid_t primary = found != nullptr ? found->pw_gid : peer.gid;
  caller.groups = [name = caller.name, primary] { return groups_of(name, primary); };
  caller.group = [primary] { return group_name(primary).value_or("#" + std::to_string(primary)); };
  return caller;
}

}  // namespace scheduler::api
