// What the site has: partitions, nodes, QOS, accounts.
#include <algorithm>

#include "slurm/job_states.h"
#include "slurm/rest/json.h"
#include "slurm/rest/json_values.h"

namespace slurm {
namespace {

const Json& either(const Json& first, const Json& second) {
  return first.is_null() ? second : first;
}

int small_count(const Json& value) {
  return static_cast<int>(std::clamp<int64_t>(number_of(value).value_or(0), 0, 1'000'000'000));
}

PartitionFacts partition_of(const Json& object) {
  PartitionFacts facts;
  facts.name = text_of(member(object, "name"));
  const Json& state = either(member(object, {"partition", "state"}), member(object, "state"));
  facts.state = join_words(words_of(state));
  const Json& limit =
      either(member(object, {"maximums", "time"}), member(object, "max_time_limit"));
  facts.longest_minutes = std::max<int64_t>(-1, number_of(limit).value_or(-1));
  facts.nodes =
      small_count(either(member(object, {"nodes", "total"}), member(object, "total_nodes")));
  return facts;
}

NodeFacts node_of(const Json& object) {
  NodeFacts facts;
  facts.name = text_of(member(object, "name"));
  facts.state = join_words(words_of(member(object, "state")));
  for (const std::string& flag : words_of(member(object, "state_flags"))) {
    facts.state += (facts.state.empty() ? "" : "+") + flag;
  }
  facts.gpus = gpus_in(text_of(member(object, "gres"))).value_or(0);
  return facts;
}

}  // namespace

std::vector<PartitionFacts> parse_partitions(ApiVersion, const std::string& body) {
  const Json document = parse_json(body);
  std::vector<PartitionFacts> partitions;
  for (const Json* object : objects_of(member(document, "partitions"))) {
    partitions.push_back(partition_of(*object));
  }
  return partitions;
}

std::vector<NodeFacts> parse_nodes(ApiVersion, const std::string& body) {
  const Json document = parse_json(body);
  std::vector<NodeFacts> nodes;
  for (const Json* object : objects_of(member(document, "nodes"))) {
    nodes.push_back(node_of(*object));
  }
  return nodes;
}

std::vector<std::string> parse_qos_names(ApiVersion, const std::string& body) {
  const Json document = parse_json(body);
  std::vector<std::string> names;
  for (const Json* object : objects_of(either(member(document, "qos"), member(document, "QOS")))) {
    names.push_back(text_of(member(*object, "name")));
  }
  return names;
}

std::vector<std::string> parse_accounts(ApiVersion, const std::string& body,
                                        const std::string& user) {
  const Json document = parse_json(body);
  std::vector<std::string> accounts;
  for (const Json* object : objects_of(member(document, "associations"))) {
    const std::string account = text_of(member(*object, "account"));
    const bool known = std::find(accounts.begin(), accounts.end(), account) != accounts.end();
    if (!known && text_of(member(*object, "user")) == user) accounts.push_back(account);
  }
  return accounts;
}

std::optional<int64_t> controller_time(const std::string& body) {
  return number_of(member(parse_json(body), {"statistics", "req_time"}));
}

}  // namespace slurm
