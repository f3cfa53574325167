#include "scheduler/policy/urgent_right.h"

#include <algorithm>
#include <vector>

namespace scheduler {

bool may_be_urgent(const UrgentAllow& allow, const std::string& user,
                   const std::set<std::string>& groups) {
  if (!allow || allow->contains(user)) return true;
  return std::any_of(groups.begin(), groups.end(),
                     [&](const std::string& group) { return allow->contains("@" + group); });
}

std::string who_may_be_urgent(const UrgentAllow& allow) {
  if (!allow) return "everybody";
  std::vector<std::string> names = {"root", "the daemon's user"};
  for (const std::string& name : *allow) {
    names.push_back(name.starts_with("@") ? "the members of group " + name.substr(1) : name);
  }
  std::string text = names.front();
  for (size_t i = 1; i < names.size(); ++i) {
    text += (i + 1 == names.size() ? " and " : ", ") + names[i];
  }
  return text;
}

bool has_tokens(const UrgentTokens& tokens) {
  return tokens.of_each > 0 || !tokens.of_group.empty();
}

int tokens_of(const UrgentTokens& tokens, const std::string& group) {
  if (group.empty()) return 0;
  const auto named = tokens.of_group.find(group);
  return named == tokens.of_group.end() ? tokens.of_each : named->second;
}

}  // namespace scheduler
