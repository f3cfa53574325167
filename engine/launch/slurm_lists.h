// Parses lists as Slurm writes them. Pure; a text that is no such list is nullopt.
#pragma once

#include <optional>
#include <string>

namespace engine {

struct HostList {
  std::string first;
  bool several = false;
};

// Of "node[03-05,9]-ib,other": node03-ib, and there are others. nullopt when it is no list of
// hosts.
std::optional<HostList> read_host_list(const std::string& list);

// The count of the host at `index`, from 0: in "4(x2),3" they are 4, 4, 3. nullopt beyond the last.
std::optional<int> count_of_host(const std::string& list, int index);

}  // namespace engine
