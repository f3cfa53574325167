// Who may ask for the classes urgent and live: the users that the site names, root and the daemon's
// own user; others need a token of their group. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "scheduler/config/config.h"

namespace scheduler {

// Users by name, and groups as "@name"; unset: everybody.
using UrgentAllow = std::optional<std::set<std::string>>;

bool may_be_urgent(const UrgentAllow& allow, const std::string& user,
                   const std::set<std::string>& groups);

// "root, the daemon's user, ann and the members of group cryoem"; "everybody".
std::string who_may_be_urgent(const UrgentAllow& allow);

// Seconds after which a group gets a taken token back.
constexpr int64_t kTokenSeconds = int64_t{7} * 24 * 3600;

bool has_tokens(const UrgentTokens& tokens);
// Tokens of this group in a week; 0 for a group that is not known.
int tokens_of(const UrgentTokens& tokens, const std::string& group);

}  // namespace scheduler
