// Parses Slurm's lists of hosts, of an array's tasks, of resources and of counts. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace base {

// Removes the first entry from `list` and returns it. A comma inside brackets separates no entries:
// "gpu:4(S:0,1)", "n[1,3]".
std::string_view take_list_entry(std::string_view& list);

// Returns the names in a list such as "n[01-03,7],rack[1-2]b[0-1]", in their order; none for an
// empty text. Returns nullopt where the text is no such list or has more than 65,536 names.
std::optional<std::vector<std::string>> hosts_in(std::string_view list);

// Returns how many tasks a list such as "0-99%10" or "[1,3,10-20:2]" names: at least 1 and at most
// a million, whatever the text. Slurm may cut a long list ("1,3,5,..."); then only the tasks that
// are written count.
int tasks_in(std::string_view list);

// Returns the count of the host at `index`, from 0: "4(x2),3" holds 4, 4 and 3. Returns nullopt for
// an index beyond the last host, and where the text is no such list.
std::optional<int> count_of_host(std::string_view list, int index);

}  // namespace base
