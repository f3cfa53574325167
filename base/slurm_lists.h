// Lists as Slurm writes them, of hosts, of an array's tasks, of resources and of counts. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace base {

// Cuts off the first entry, at a comma that is not inside brackets: "gpu:4(S:0,1)", "n[1,3]".
std::string_view take_list_entry(std::string_view& list);

// The names in "n[01-03,7],rack[1-2]b[0-1]", in their order. nullopt: it is no such list, or has
// more than 65,536 names. None in an empty text.
std::optional<std::vector<std::string>> hosts_in(std::string_view list);

// How many tasks "0-99%10" or "[1,3,10-20:2]" names. Slurm cuts a long list: "1,3,5,...", of which
// those that are left count. At least 1 and at most a million, whatever the text.
int tasks_in(std::string_view list);

// The count of the host at `index`, from 0: in "4(x2),3" they are 4, 4, 3. nullopt beyond the last,
// and where the list is none.
std::optional<int> count_of_host(std::string_view list, int index);

}  // namespace base
