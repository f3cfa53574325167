// Implements commands.h: whose group an item counts for, and who may make it urgent.
#include <algorithm>

#include "base/text.h"
#include "db/urgent_tokens.h"
#include "scheduler/commands/commands.h"
#include "scheduler/commands/item_words.h"

namespace scheduler {
namespace {

constexpr const char* kWhatElse = ": ask one of them to promote it, or use high";

std::set<std::string> groups_of(const Caller& caller) {
  return caller.groups ? caller.groups() : std::set<std::string>();
}

}  // namespace

bool UrgentRight::may() const {
  return has || std::any_of(tokens.begin(), tokens.end(),
                            [](const GroupTokens& group) { return group.left > 0; });
}

std::string Commands::group_for(const Caller& caller, const std::string& wanted) const {
  const std::string primary = caller.group ? caller.group() : "";
  if (wanted.empty() || wanted == primary) return primary;
  std::set<std::string> groups = groups_of(caller);
  if (groups.contains(wanted)) return wanted;
  if (!primary.empty()) groups.insert(primary);
  const std::vector<std::string> names(groups.begin(), groups.end());
  throw NotPermitted("you are not a member of group '" + wanted + "'" +
                     (names.empty() ? "" : "; use one of yours: " + base::joined(names, ", ")));
}

Caller Commands::with_known_groups(const Caller& caller) {
  Caller known = caller;
  known.groups = [groups = groups_of(caller)] { return groups; };
  if (caller.group) known.group = [group = caller.group()] { return group; };
  return known;
}

UrgentBy Commands::urgent_by(const Caller& caller, db::Priority priority) const {
  const UrgentAllow& allow = options_.urgent_allow;
  if (priority > db::Priority::kUrgent || caller.privileged || !allow) return UrgentBy::kRight;
  if (may_be_urgent(allow, caller.name, groups_of(caller))) return UrgentBy::kRight;
  return has_tokens(options_.urgent_tokens) ? UrgentBy::kToken : UrgentBy::kNothing;
}

void Commands::check_urgent(UrgentBy by) const {
  if (by != UrgentBy::kNothing) return;
  throw NotPermitted("only " + who_may_be_urgent(options_.urgent_allow) +
                     " may make an item urgent ('policy.urgent.allow' in the daemon's "
                     "configuration)" +
                     kWhatElse);
}

UrgentRight Commands::urgent_right(const Caller& caller) const {
  UrgentRight right{.has = urgent_by(caller, db::Priority::kUrgent) == UrgentBy::kRight,
                    .who = who_may_be_urgent(options_.urgent_allow)};
  if (right.has || !has_tokens(options_.urgent_tokens)) return right;
  std::set<std::string> groups = groups_of(caller);
  if (caller.group) groups.insert(caller.group());
  for (const std::string& group : groups) {
    if (tokens_of(options_.urgent_tokens, group) > 0) right.tokens.push_back(tokens_left(group));
  }
  return right;
}

GroupTokens Commands::tokens_left(const std::string& group) const {
  const auto taken =
      db::UrgentTokenStore(database_).taken_after(group, clock_.now() - kTokenSeconds);
  const int of_week = tokens_of(options_.urgent_tokens, group);
  // A site that lowers the number may leave more taken than there are.
  const int left = std::max(0, of_week - static_cast<int>(taken.size()));
  const auto before_next =
      std::max<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(taken.size()) - of_week);
  return {.group = group,
          .of_week = of_week,
          .left = left,
          .next = taken.empty() || of_week == 0 ? 0 : taken.begin()[before_next] + kTokenSeconds};
}

void Commands::check_token(const std::string& group) const {
  const GroupTokens tokens = tokens_left(group);
  if (tokens.left > 0) return;
  const std::string name = group.empty() ? "a group that is not known" : "group " + group;
  const std::string none =
      tokens.of_week == 0
          ? name +
                " has no tokens for urgent items ('policy.urgent.tokens' in the daemon's "
                "configuration)"
          : name + " has used its " + base::counted(tokens.of_week, "token") +
                " for urgent items of this week and gets the next one on " +
                deadline_text(tokens.next);
  throw NotPermitted(none + "; only " + who_may_be_urgent(options_.urgent_allow) +
                     " may make an item urgent without one" + kWhatElse);
}

void Commands::check_member(const Caller& caller, const db::Item& item) {
  if (item.group.empty() || (caller.group && caller.group() == item.group)) return;
  if (groups_of(caller).contains(item.group)) return;
  throw NotPermitted("you are not a member of group '" + item.group + "', for which " +
                     item_name(item) +
                     " counts: enqueue it again for a group of yours, or use high");
}

void Commands::take_token(const Caller& caller, const db::Item& item) {
  db::UrgentTokenStore(database_).insert({.group = item.group,
                                          .time = clock_.now(),
                                          .item_id = item.id,
                                          .uid = caller.uid,
                                          .who = caller.name});
}

std::string Commands::pay_for_urgent(const Caller& caller, UrgentBy by, const db::Item& item,
                                     bool becomes) {
  if (becomes) check_urgent(by);
  if (by != UrgentBy::kToken) return "";
  const int64_t newest = db::UrgentTokenStore(database_).newest_of_item(item.id);
  const bool counts = newest > clock_.now() - kTokenSeconds;
  // One that became urgent by somebody's right, and so without a token, needs none.
  if (counts || (!becomes && newest == 0)) return "";
  check_member(caller, item);
  check_token(item.group);
  take_token(caller, item);
  return " with a token of group " + item.group;
}

}  // namespace scheduler
