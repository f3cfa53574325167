// Implements json.h: what the site has, that is partitions, nodes, QOS, accounts.
#include "slurm/gpu_count.h"
#include "slurm/job_states.h"
#include "slurm/rest/json.h"
#include "slurm/rest/json_values.h"

namespace slurm {
namespace {

const Json& either(const Json& first, const Json& second) {
  return first.is_null() ? second : first;
}

}  // namespace

std::map<std::string, std::string> parse_partitions(const std::string& body) {
  const Json document = parse_json(body);
  std::map<std::string, std::string> partitions;
  for (const Json* object : objects_of(member(document, "partitions"))) {
    const Json& state = either(member(*object, {"partition", "state"}), member(*object, "state"));
    partitions[text_of(member(*object, "name"))] = join_words(words_of(state));
  }
  return partitions;
}

NodeTotals parse_node_totals(const std::string& body) {
  const Json document = parse_json(body);
  NodeTotals totals;
  for (const Json* object : objects_of(member(document, "nodes"))) {
    ++totals.nodes;
    totals.gpus += gpus_in(text_of(member(*object, "gres"))).value_or(0);
  }
  return totals;
}

Names parse_qos_names(const std::string& body) {
  const Json document = parse_json(body);
  Names names;
  for (const Json* object : objects_of(either(member(document, "qos"), member(document, "QOS")))) {
    names.insert(text_of(member(*object, "name")));
  }
  return names;
}

Names parse_accounts(const std::string& body, const std::string& user) {
  const Json document = parse_json(body);
  Names accounts;
  for (const Json* object : objects_of(member(document, "associations"))) {
    if (text_of(member(*object, "user")) == user) {
      accounts.insert(text_of(member(*object, "account")));
    }
  }
  return accounts;
}

std::optional<int64_t> controller_time(const std::string& body) {
  return number_of(member(parse_json(body), {"statistics", "req_time"}));
}

}  // namespace slurm
