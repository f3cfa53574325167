// Implements json.h: what slurmdbd has, that is QOS and associations with their limits.
#include <initializer_list>
#include <string>

#include "slurm/rest/json.h"
#include "slurm/rest/json_values.h"

namespace slurm {
namespace {

// A negative number is no limit.
std::optional<int64_t> limit_at(const Json& object, std::initializer_list<const char*> keys) {
  const auto number = number_of(member(object, keys));
  return number && *number >= 0 ? number : std::nullopt;
}

// [{"type": "gres", "name": "gpu", "count": 8}, ...]
Tres tres_at(const Json& object, std::initializer_list<const char*> keys) {
  Tres tres;
  for (const Json* one : objects_of(member(object, keys))) {
    const auto count = limit_at(*one, {"count"});
    const std::string name = text_of(member(*one, "name"));
    const std::string type = text_of(member(*one, "type"));
    if (count) tres[name.empty() ? type : type + "/" + name] = *count;
  }
  return tres;
}

QosFacts qos_of(const Json& object) {
  const Json& most = member(object, {"limits", "max"});
  const auto flags = words_of(member(object, "flags"));
  return {.limits = {.most_minutes = limit_at(most, {"wall_clock", "per", "job"}),
                     .of_job = tres_at(most, {"tres", "per", "job"}),
                     .of_node = tres_at(most, {"tres", "per", "node"}),
                     .of_user = tres_at(most, {"tres", "per", "user"}),
                     .of_all = tres_at(most, {"tres", "total"}),
                     .most_submitted = limit_at(most, {"jobs", "per", "user"})},
          .lifts_time = flags.contains("PARTITION_TIME_LIMIT"),
          .lifts_nodes = flags.contains("PARTITION_MAXIMUM_NODE"),
          .over_partition = flags.contains("OVERRIDE_PARTITION_QOS")};
}

Association association_of(const Json& object) {
  const Json& most = member(object, "max");
  Association found{.cluster = text_of(member(object, "cluster")),
                    .account = text_of(member(object, "account")),
                    .user = text_of(member(object, "user")),
                    .partition = text_of(member(object, "partition")),
                    .parent = text_of(member(object, "parent_account")),
                    .default_qos = text_of(member(object, {"default", "qos"})),
                    .limits = {.most_minutes = limit_at(most, {"jobs", "per", "wall_clock"}),
                               .of_job = tres_at(most, {"tres", "per", "job"}),
                               .of_node = tres_at(most, {"tres", "per", "node"}),
                               .of_all = tres_at(most, {"tres", "total"}),
                               .most_submitted = limit_at(most, {"jobs", "total"})}};
  const Json& qos = member(object, "qos");
  if (qos.is_array()) {
    for (const Json& name : qos) found.qos.insert(text_of(name));
  }
  return found;
}

// 22.05 writes a number.
bool is_default(const Json& object) {
  const Json& says = member(object, "is_default");
  return says.is_boolean() ? says.get<bool>() : number_of(says).value_or(0) != 0;
}

// The document without the associations of other users, of which a large site has 100,000.
Json parse_without_others(const std::string& body, const std::string& user) {
  constexpr int kOneOfAList = 2;
  return Json::parse(
      body,
      [&](int depth, Json::parse_event_t event, Json& parsed) {
        if (event != Json::parse_event_t::object_end || depth != kOneOfAList) return true;
        const std::string whose = text_of(member(parsed, "user"));
        return whose.empty() || whose == user;
      },
      false);
}

}  // namespace

QosByName parse_qos(const std::string& body) {
  const Json document = parse_json(body);
  const Json& older = member(document, "QOS");
  QosByName qos;
  for (const Json* object : objects_of(older.is_null() ? member(document, "qos") : older)) {
    qos[text_of(member(*object, "name"))] = qos_of(*object);
  }
  return qos;
}

AssociationFacts parse_associations(const std::string& body, const std::string& user) {
  const Json document = parse_without_others(body, user);
  const std::string cluster = text_of(member(document, {"meta", "slurm", "cluster"}));
  AssociationFacts facts;
  for (const Json* object : objects_of(member(document, "associations"))) {
    Association one = association_of(*object);
    if (!cluster.empty() && !one.cluster.empty() && one.cluster != cluster) continue;
    if (one.user == user && is_default(*object)) facts.default_account = one.account;
    facts.all.push_back(std::move(one));
  }
  return facts;
}

}  // namespace slurm
