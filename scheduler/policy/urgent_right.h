// Who may ask for the class urgent, and for live: those that the site names, root and the daemon's
// own user. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>

namespace scheduler {

// Users by name, and groups as "@name"; none: everybody.
using UrgentAllow = std::optional<std::set<std::string>>;

bool may_be_urgent(const UrgentAllow& allow, const std::string& user,
                   const std::set<std::string>& groups);

// "root, the daemon's user, ann and the members of group cryoem"; "everybody".
std::string who_may_be_urgent(const UrgentAllow& allow);

}  // namespace scheduler
