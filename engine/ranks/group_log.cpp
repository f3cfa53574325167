#include "engine/ranks/group_log.h"

#include <cstdio>
#include <set>

namespace engine {

std::string start_line(const std::vector<RankDevice>& ranks) {
  std::set<std::string> hosts;
  std::string list;
  for (const RankDevice& one : ranks) {
    hosts.insert(one.host);
    list += (list.empty() ? "" : ", ") + ("rank " + std::to_string(one.rank)) + " on " + one.host;
    if (!one.identity.empty()) list += " (" + one.identity + ")";
  }
  return "START: world size " + std::to_string(ranks.size()) + " on " +
         std::to_string(hosts.size()) + (hosts.size() == 1 ? " host: " : " hosts: ") + list;
}

std::string end_line(const std::string& outcome, double seconds, int ranks) {
  char time[32];
  std::snprintf(time, sizeof time, "%.1f", seconds);
  return "END: " + outcome + " after " + time + " s with world size " + std::to_string(ranks);
}

}  // namespace engine
