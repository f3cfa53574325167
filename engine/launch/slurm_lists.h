// Lists as Slurm writes them. Pure.
#pragma once

#include <optional>
#include <string>

namespace engine {

struct HostList {
  std::string first;
  bool several = false;
};

// Of "node[03-05,9]-ib,other": node03-ib, and there are others. Nothing when it is no list of
// hosts.
std::optional<HostList> read_host_list(const std::string& list);

// What "4(x2),3" says of the host at `index`, counted from 0: 4, 4, 3. Nothing when it says nothing
// of that one, or is no list of counts.
std::optional<int> count_of_host(const std::string& list, int index);

}  // namespace engine
