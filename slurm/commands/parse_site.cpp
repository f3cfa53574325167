// Implements parse.h: nodes, partitions and settings as sinfo and scontrol print them.
#include <array>
#include <utility>

#include "base/parse_number.h"
#include "base/text.h"
#include "slurm/commands/parse.h"
#include "slurm/commands/text_fields.h"
#include "slurm/job_states.h"
#include "slurm/sbatch/values.h"

namespace slurm {
namespace {

using base::parse_number;

enum NodeField : size_t {
  kNodeName,
  kNodeGres,
  kNodePartition,
  kNodeCpus,
  kNodeMemory,
  kNodeCpusByState,
  kNodeGresUsed,
  kNodeState,
  kNodeReason,
  kNodeFields
};
constexpr std::array<const char*, kNodeFields> kNodeNames = {
    "NodeList",  "Gres",     "PartitionName", "CPUs",  "Memory",
    "CPUsState", "GresUsed", "StateComplete", "Reason"};
constexpr char kNodeSeparator = '|';

// "4/12/0/16": allocated, idle, other and all.
int64_t allocated_of(std::string_view cpus) {
  return parse_number<int64_t>(cpus.substr(0, cpus.find('/'))).value_or(0);
}

// A line lacks the last fields where sinfo was asked for fewer.
void read_node(const std::vector<std::string_view>& fields, NodeFacts& node) {
  const auto field = [&](NodeField one) {
    return one < fields.size() ? std::string(fields[one]) : std::string();
  };
  node.name = field(kNodeName);
  if (kNodePartition < fields.size()) node.partitions.insert(field(kNodePartition));
  node.cpus = parse_number<int64_t>(field(kNodeCpus)).value_or(0);
  node.memory_mb = parse_number<int64_t>(field(kNodeMemory)).value_or(0);
  node.cpus_busy = allocated_of(field(kNodeCpusByState));
  node.reason = present(base::trimmed(field(kNodeReason)));
  if (node.reason == "none") node.reason.clear();
  set_gpus(field(kNodeGres), field(kNodeGresUsed), node);
  set_state(split_words(field(kNodeState)), node);
}

// Of "research,physics"; empty: all.
Names names_in(const std::string& list) {
  Names names;
  for (const std::string& name : base::split(list, ',')) {
    if (!is_absent(name) && name != "ALL") names.insert(name);
  }
  return names;
}

// nullopt: "UNLIMITED" or "NONE".
std::optional<int64_t> limit_of(const std::string& value) { return parse_number<int64_t>(value); }

std::optional<int64_t> minutes_of(const std::string& value) {
  const auto seconds = parse_time(value);
  if (!seconds || *seconds < 0) return std::nullopt;
  return *seconds / 60;
}

PartitionFacts partition_of(std::map<std::string, std::string>& values) {
  return {.state = values["State"],
          .is_default = values["Default"] == "YES",
          .default_minutes = minutes_of(values["DefaultTime"]),
          .priority_tier = limit_of(values["PriorityTier"]).value_or(1),
          .most_minutes = minutes_of(values["MaxTime"]),
          .most_nodes = limit_of(values["MaxNodes"]),
          .most_cpus = limit_of(values["MaxCPUsPerNode"]),
          .most_memory_mb = limit_of(values["MaxMemPerNode"]),
          .nodes = limit_of(values["TotalNodes"]),
          .accounts = names_in(values["AllowAccounts"]),
          .denied_accounts = names_in(values["DenyAccounts"]),
          .qos = names_in(values["AllowQos"]),
          .denied_qos = names_in(values["DenyQos"]),
          .own_qos = present(values["QoS"])};
}

}  // namespace

// As in squeue_arguments(): without a width a field is neither padded nor cut.
Words sinfo_node_arguments() {
  std::string format;
  for (const char* name : kNodeNames) {
    const bool last = name == kNodeNames.back();
    format += std::string(name) + ":" + (last ? "" : std::string(1, kNodeSeparator) + ",");
  }
  return {"--noheader", "--Node", "--Format=" + format};
}

NodeTotals parse_sinfo_nodes(std::string_view text) {
  std::map<std::string_view, NodeFacts> nodes;  // a node has a line for each of its partitions
  while (!text.empty()) {
    const auto fields = split_at_most(next_line(text), kNodeSeparator, kNodeFields);
    if (fields.size() < 2 || fields[0].empty()) continue;
    read_node(fields, nodes[fields[0]]);
  }
  NodeTotals found;
  for (auto& [name, node] : nodes) {
    ++found.nodes;
    found.gpus += node.gpus;
    found.each.push_back(std::move(node));
  }
  return found;
}

std::map<std::string, PartitionFacts> parse_partitions_text(std::string_view text) {
  std::map<std::string, PartitionFacts> partitions;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    std::map<std::string, std::string> values;
    for (const std::string_view word : split_at_most(line, ' ', line.size() + 1)) {
      const size_t equals = word.find('=');
      if (equals == word.npos) continue;
      values.emplace(word.substr(0, equals), word.substr(equals + 1));
    }
    if (values["PartitionName"].empty()) continue;
    partitions[values["PartitionName"]] = partition_of(values);
  }
  return partitions;
}

std::map<std::string, std::string> parse_config(std::string_view text) {
  constexpr std::string_view kTime = "Configuration data as of ";
  std::map<std::string, std::string> config;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (line.starts_with(kTime)) config["as of"] = line.substr(kTime.size());
    const size_t equals = line.find('=');
    if (equals == line.npos || equals == 0) continue;
    const std::string_view name = line.substr(0, line.find_last_not_of(' ', equals - 1) + 1);
    const size_t value = std::min(line.find_first_not_of(' ', equals + 1), line.size());
    config[std::string(name)] = line.substr(value);
  }
  return config;
}

std::optional<int64_t> leading_number(const std::string& value) {
  return parse_number<int64_t>(std::string_view(value).substr(0, value.find(' ')));
}

std::string release_of(const std::string& version_text) {
  const size_t begin = version_text.find(' ');
  if (begin == std::string::npos) return "";
  return version_text.substr(begin + 1, version_text.find_first_of(" \n", begin + 1) - begin - 1);
}

}  // namespace slurm
