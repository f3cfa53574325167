// Implements json.h: what the site has, that is partitions and nodes.
#include <initializer_list>
#include <utility>

#include "base/text.h"
#include "slurm/job_states.h"
#include "slurm/rest/json.h"
#include "slurm/rest/json_values.h"

namespace slurm {
namespace {

const Json& either(const Json& first, const Json& second) {
  return first.is_null() ? second : first;
}

// Older versions write -1 or null where there is no limit.
std::optional<int64_t> limit_of(const Json& value) {
  const auto number = number_of(value);
  return number && *number > 0 ? number : std::nullopt;
}

// Of a text such as "research,physics"; empty: all.
Names names_in(const Json& list) {
  Names names;
  for (const std::string& name : base::split(text_of(list), ',')) {
    if (!name.empty() && name != "ALL") names.insert(name);
  }
  return names;
}

PartitionFacts partition_of(const Json& object) {
  const auto of = [&](std::initializer_list<const char*> now, const char* before) -> const Json& {
    return either(member(object, now), member(object, before));
  };
  return {.state = join_words(words_of(of({"partition", "state"}, "state"))),
          .is_default = words_of(member(object, "flags")).contains("DEFAULT"),
          .default_minutes = limit_of(of({"defaults", "time"}, "default_time_limit")),
          .priority_tier = number_of(of({"priority", "tier"}, "priority_tier")).value_or(1),
          .most_minutes = limit_of(of({"maximums", "time"}, "max_time_limit")),
          .most_nodes = limit_of(of({"maximums", "nodes"}, "maximum_nodes_per_job")),
          .most_cpus = limit_of(of({"maximums", "cpus_per_node"}, "maximum_cpus_per_node")),
          .most_memory_mb =
              limit_of(of({"maximums", "partition_memory_per_node"}, "maximum_memory_per_node")),
          .nodes = limit_of(of({"nodes", "total"}, "total_nodes")),
          .accounts = names_in(of({"accounts", "allowed"}, "allowed_accounts")),
          .denied_accounts = names_in(of({"accounts", "deny"}, "denied_accounts")),
          .qos = names_in(of({"qos", "allowed"}, "allowed_qos")),
          .denied_qos = names_in(of({"qos", "deny"}, "denied_qos")),
          .own_qos = text_of(of({"qos", "assigned"}, "qos"))};
}

// v0.0.38 has the base state and the flags apart.
std::set<std::string> state_words_of(const Json& object) {
  std::set<std::string> words = words_of(member(object, "state"));
  words.merge(words_of(member(object, "state_flags")));
  return words;
}

NodeFacts node_of(const Json& object) {
  NodeFacts node{.name = text_of(member(object, "name")),
                 .cpus = number_of(member(object, "cpus")).value_or(0),
                 .memory_mb = number_of(member(object, "real_memory")).value_or(0),
                 .cpus_busy = number_of(member(object, "alloc_cpus")).value_or(0),
                 .reason = text_of(member(object, "reason"))};
  const Json& partitions = member(object, "partitions");
  if (partitions.is_array()) {
    for (const Json& name : partitions) node.partitions.insert(text_of(name));
  }
  set_gpus(text_of(member(object, "gres")), text_of(member(object, "gres_used")), node);
  set_state(state_words_of(object), node);
  return node;
}

}  // namespace

std::map<std::string, PartitionFacts> parse_partitions(const std::string& body) {
  const Json document = parse_json(body);
  std::map<std::string, PartitionFacts> partitions;
  for (const Json* object : objects_of(member(document, "partitions"))) {
    partitions[text_of(member(*object, "name"))] = partition_of(*object);
  }
  return partitions;
}

NodeTotals parse_node_totals(const std::string& body) {
  const Json document = parse_json(body);
  NodeTotals totals;
  for (const Json* object : objects_of(member(document, "nodes"))) {
    totals.each.push_back(node_of(*object));
    ++totals.nodes;
    totals.gpus += totals.each.back().gpus;
  }
  return totals;
}

std::optional<int64_t> controller_time(const std::string& body) {
  return number_of(member(parse_json(body), {"statistics", "req_time"}));
}

}  // namespace slurm
