#include "scheduler/process/site_file.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>

namespace scheduler {
namespace {

constexpr int64_t kFourHours = 240;  // minutes
constexpr int64_t kMostCpus = 16;    // of a search without a GPU
constexpr int kMostNodes = 4;        // of an urgent search

struct PartitionNodes {
  std::string name{};
  bool is_default = false;
  std::optional<int64_t> most_minutes{};
  std::vector<slurm::NodeFacts> nodes{};  // those with GPUs, where some have any
  int64_t gpus = 0;
  int64_t cpus = 0;
};

std::string plural(int64_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

PartitionNodes nodes_of(const std::string& name, const slurm::PartitionFacts& facts,
                        const slurm::NodeTotals& all) {
  PartitionNodes partition{
      .name = name, .is_default = facts.is_default, .most_minutes = facts.most_minutes};
  for (const slurm::NodeFacts& node : all.each) {
    if (node.partitions.count(name) == 0) continue;
    partition.gpus += node.gpus;
    partition.cpus += node.cpus;
    partition.nodes.push_back(node);
  }
  if (partition.gpus > 0) {
    std::erase_if(partition.nodes, [](const slurm::NodeFacts& node) { return node.gpus == 0; });
  }
  return partition;
}

bool is_better(const PartitionNodes& a, const PartitionNodes& b) {
  if (a.gpus != b.gpus) return a.gpus > b.gpus;
  if (a.gpus == 0 && a.cpus != b.cpus) return a.cpus > b.cpus;
  return a.is_default && !b.is_default;
}

std::optional<PartitionNodes> best_partition(const slurm::SiteFacts& site) {
  std::optional<PartitionNodes> best;
  for (const auto& [name, facts] : *site.partitions.value) {
    if (facts.state != "UP") continue;
    PartitionNodes partition = nodes_of(name, facts, *site.nodes.value);
    if (partition.nodes.empty()) continue;
    if (!best || is_better(partition, *best)) best = std::move(partition);
  }
  return best;
}

// Of what every node of the partition has, one part of `parts`; 0: not known.
int64_t least(const std::vector<slurm::NodeFacts>& nodes, int64_t slurm::NodeFacts::*what) {
  int64_t least = nodes.front().*what;
  for (const slurm::NodeFacts& node : nodes) least = std::min(least, node.*what);
  return least;
}

int most_gpus(const std::vector<slurm::NodeFacts>& nodes) {
  int most = 0;
  for (const slurm::NodeFacts& node : nodes) most = std::max(most, node.gpus);
  return most;
}

std::string time_text(int64_t minutes) {
  const int64_t rest = minutes % 60;
  return std::to_string(minutes / 60) + (rest < 10 ? ":0" : ":") + std::to_string(rest) + ":00";
}

// What one search gets: a GPU's part of the smallest node, or some CPUs.
std::string options_text(const PartitionNodes& partition, int gpus_per_node) {
  const int64_t node_cpus = least(partition.nodes, &slurm::NodeFacts::cpus);
  const int64_t node_memory = least(partition.nodes, &slurm::NodeFacts::memory_mb);
  const int64_t cpus =
      gpus_per_node > 0 ? node_cpus / gpus_per_node : std::min(node_cpus, kMostCpus);
  const int64_t parts = cpus > 0 ? std::max<int64_t>(node_cpus / cpus, 1) : 1;
  const int64_t minutes = std::min(partition.most_minutes.value_or(kFourHours), kFourHours);
  std::string text = "{partition: " + yaml_text(partition.name) + ", time: " + time_text(minutes);
  if (cpus > 0) text += ", cpus-per-task: " + std::to_string(cpus);
  if (node_memory > 0) text += ", mem: " + std::to_string(node_memory / parts) + "M";
  return text + "}";
}

void add_shapes(const PartitionNodes& partition, int gpus_per_node, SiteValues& values) {
  values["slurm.shape"] = gpus_per_node > 0 ? "gpu" : "cpu";
  if (gpus_per_node == 0) return;
  const int nodes = std::min(static_cast<int>(partition.nodes.size()), kMostNodes);
  values["slurm.gpus_per_node"] = std::to_string(gpus_per_node);
  values["slurm.nodes"] = std::to_string(nodes);
  if (nodes > 1) {
    values["slurm.urgent_shape"] = "nodes";
  } else if (gpus_per_node > 1) {
    values["slurm.urgent_shape"] = "node";
  }
  values["slurm.max_jobs"] = std::to_string(partition.gpus);
}

std::string found_text(const PartitionNodes& partition) {
  std::set<std::string> kinds;
  for (const slurm::NodeFacts& node : partition.nodes) {
    for (const auto& [kind, gpus] : node.gpu_kinds) {
      if (!kind.empty()) kinds.insert(kind);
    }
  }
  std::string text = "partition '" + partition.name +
                     "': " + plural(static_cast<int64_t>(partition.nodes.size()), "node") +
                     " with " +
                     (partition.gpus > 0 ? plural(partition.gpus, "GPU")
                                         : plural(partition.cpus, "CPU") + " and no GPU");
  if (!kinds.empty()) text += " (" + slurm::list_of(kinds) + ")";
  if (partition.most_minutes) text += ", jobs of at most " + time_text(*partition.most_minutes);
  return text;
}

}  // namespace

std::string yaml_text(const std::string& text) {
  static const std::regex plain("[A-Za-z_/][A-Za-z0-9_./:@+-]*[A-Za-z0-9_/]|[A-Za-z_/]");
  if (std::regex_match(text, plain)) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string with_values(const std::string& text, const SiteValues& values) {
  static const std::regex key_line("#?((?:  )?)([a-z_]+):.*");
  std::set<std::string> sections;
  for (const auto& [key, value] : values) {
    if (const size_t dot = key.find('.'); dot != std::string::npos)
      sections.insert(key.substr(0, dot));
  }
  std::set<std::string> open;
  for (const auto& [key, value] : values) open.insert(key);
  std::istringstream lines(text);
  std::string result, section;
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, key_line)) {
      const std::string indent = match[1], name = match[2];
      if (indent.empty()) section = name;
      const std::string key = indent.empty() ? name : section + "." + name;
      if (const auto value = values.find(key); value != values.end()) {
        line = indent + name + ": " + value->second;
        open.erase(key);
      } else if (indent.empty() && sections.count(name) != 0) {
        line = name + ":";
      }
    }
    result += line + "\n";
  }
  if (!open.empty()) throw std::logic_error("the site's file has no key '" + *open.begin() + "'");
  return result;
}

SiteProposal propose_slurm(const slurm::SiteFacts& site) {
  SiteProposal proposal;
  if (!site.partitions.value || !site.nodes.value) return proposal;
  const std::optional<PartitionNodes> partition = best_partition(site);
  if (!partition) return proposal;
  const int gpus_per_node = most_gpus(partition->nodes);
  proposal.values = {{"cluster", "slurm"},
                     {"slurm.transport", "cli"},
                     {"slurm.options", options_text(*partition, gpus_per_node)}};
  add_shapes(*partition, gpus_per_node, proposal.values);
  proposal.notes = {
      "found " + found_text(*partition),
      "set 'jobs' to a folder that every node sees under the same path, and 'engine' "
      "to margay-engine on such a path, with margay-job beside it",
      "add 'account' to slurm.options if jobs need one; slurmrestd instead of Slurm's "
      "commands: docs/slurm.md"};
  return proposal;
}

}  // namespace scheduler
