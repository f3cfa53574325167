// Implements site_facts.h: what the shapes ask for, compared with the partitions and their nodes.
// Slurm itself refuses too little: with EnforcePartLimits=NO it accepts a job beyond its
// partition's limits and never starts it.
#include <algorithm>
#include <cstdio>
#include <functional>

#include "base/text.h"
#include "slurm/site_facts.h"

namespace slurm {
namespace {

constexpr int64_t kLittleMemory = 1024;  // MB; less is meant as GB

struct Problem {
  std::string says{};  // one clause
  std::string need{};  // its name in ShapeNeeds::sources
  bool qos_may_lift = false;
};
using Problems = std::vector<Problem>;
using Nodes = std::vector<const NodeFacts*>;

std::string memory_text(int64_t mb) {
  if (mb < 1024) return std::to_string(mb) + " MB";
  char text[40] = {};
  std::snprintf(text, sizeof text, "%.4g GB", static_cast<double>(mb) / 1024);
  return text;
}

std::string minutes_text(int64_t minutes) {
  if (minutes < 0) return "unlimited time";
  if (minutes < 120) return std::to_string(minutes) + " min";
  const int64_t rest = minutes % 60;
  return std::to_string(minutes / 60) + " h" +
         (rest == 0 ? "" : " " + std::to_string(rest) + " min");
}

std::string plain(int64_t count) { return std::to_string(count); }

void judge_time(const ShapeNeeds& needs, const PartitionFacts& partition, Problems& problems) {
  if (!partition.most_minutes || needs.minutes == 0) return;
  if (needs.minutes > 0 && needs.minutes <= *partition.most_minutes) return;
  problems.push_back({.says = "asks for " + minutes_text(needs.minutes) + ", and its MaxTime is " +
                              minutes_text(*partition.most_minutes),
                      .need = "time",
                      .qos_may_lift = true});
}

void judge_width(const ShapeNeeds& needs, const PartitionFacts& partition, Problems& problems) {
  const std::string asks = "asks for " + plain(needs.nodes) + " nodes, and ";
  if (partition.nodes && needs.nodes > *partition.nodes) {
    problems.push_back({.says = asks + "it has " + plain(*partition.nodes), .need = "nodes"});
  } else if (partition.most_nodes && needs.nodes > *partition.most_nodes) {
    problems.push_back({.says = asks + "its MaxNodes is " + plain(*partition.most_nodes),
                        .need = "nodes",
                        .qos_may_lift = true});
  }
}

void judge_name(const std::string& name, const Names& allowed, const Names& denied,
                const std::string& need, const std::string& kind, Problems& problems) {
  if (name.empty()) return;
  if (!allowed.empty() && allowed.count(name) == 0) {
    problems.push_back(
        {.says = "its Allow" + kind + " (" + list_of(allowed) + ") lacks '" + name + "'",
         .need = need});
  } else if (allowed.empty() && denied.count(name) > 0) {
    problems.push_back({.says = "its Deny" + kind + " has '" + name + "'", .need = need});
  }
}

// One thing that a job needs on each of its nodes.
struct NodeNeed {
  std::string name{};  // in ShapeNeeds::sources
  int64_t wanted = 0;
  std::optional<int64_t> most{};  // that the partition allows on a node
  std::string limit{};            // the partition's name for it
  std::function<int64_t(const NodeFacts&)> has{};
  std::function<std::string(int64_t)> text{};

  // What a node does not report counts as enough.
  bool fits(const NodeFacts& node) const {
    const bool unknown = name != "gpus" && has(node) == 0;
    return unknown || has(node) >= wanted;
  }
};

std::vector<NodeNeed> node_needs(const ShapeNeeds& needs, const PartitionFacts& partition) {
  return {{.name = "cpus",
           .wanted = needs.cpus,
           .most = partition.most_cpus,
           .limit = "MaxCPUsPerNode",
           .has = [](const NodeFacts& node) { return node.cpus; },
           .text = [](int64_t count) { return plain(count) + " CPUs"; }},
          {.name = "mem",
           .wanted = needs.memory_mb,
           .most = partition.most_memory_mb,
           .limit = "MaxMemPerNode",
           .has = [](const NodeFacts& node) { return node.memory_mb; },
           .text = memory_text},
          {.name = "gpus",
           .wanted = needs.gpus,
           .most = std::nullopt,
           .limit = "",
           .has = [](const NodeFacts& node) { return int64_t{node.gpus}; },
           .text = [](int64_t count) { return plain(count) + " GPUs"; }}};
}

// False: what is asked for is beyond it.
bool judge_need(const NodeNeed& need, int wanted_nodes, const Nodes& nodes, Problems& problems) {
  const std::string asks = "asks for " + need.text(need.wanted) + " a node, and ";
  if (need.most && need.wanted > *need.most) {
    problems.push_back(
        {.says = asks + "its " + need.limit + " is " + need.text(*need.most), .need = need.name});
    return false;
  }
  if (nodes.empty()) return true;
  int64_t largest = 0;
  int64_t fitting = 0;
  for (const NodeFacts* node : nodes) {
    largest = std::max(largest, need.has(*node));
    if (need.fits(*node)) ++fitting;
  }
  if (fitting >= wanted_nodes) return true;
  const std::string has =
      fitting == 0 ? "its largest node has " + need.text(largest)
                   : plain(fitting) + " of its nodes have as many, not " + plain(wanted_nodes);
  problems.push_back({.says = asks + has, .need = need.name});
  return false;
}

void judge_node_needs(const ShapeNeeds& needs, const PartitionFacts& partition, const Nodes& nodes,
                      Problems& problems) {
  const std::vector<NodeNeed> all = node_needs(needs, partition);
  // More nodes than it has is said once, by judge_width().
  const int wanted =
      static_cast<int>(std::min<int64_t>(needs.nodes, std::max<int64_t>(1, std::ssize(nodes))));
  bool each = true;
  for (const NodeNeed& need : all) each = judge_need(need, wanted, nodes, problems) && each;
  if (!each || nodes.empty()) return;
  const auto together = std::count_if(nodes.begin(), nodes.end(), [&](const NodeFacts* node) {
    return std::all_of(all.begin(), all.end(),
                       [&](const NodeNeed& need) { return need.fits(*node); });
  });
  if (together >= wanted) return;
  std::string says = "asks on each node for ";
  for (const NodeNeed& need : all) says += (&need == &all[0] ? "" : ", ") + need.text(need.wanted);
  problems.push_back(
      {.says = says + ", which " + plain(together) + " of its nodes have together", .need = "mem"});
}

Problems problems_of(const ShapeNeeds& needs, const std::string& name,
                     const PartitionFacts& partition, const NodeTotals& totals) {
  Nodes nodes;
  for (const NodeFacts& node : totals.each) {
    if (node.partitions.count(name) > 0) nodes.push_back(&node);
  }
  Problems problems;
  judge_time(needs, partition, problems);
  judge_width(needs, partition, problems);
  judge_node_needs(needs, partition, nodes, problems);
  judge_name(needs.account, partition.accounts, partition.denied_accounts, "account", "Accounts",
             problems);
  judge_name(needs.qos, partition.qos, partition.denied_qos, "qos", "Qos", problems);
  return problems;
}

// Those that are named; else the default one, or all where it is not known which that is.
std::map<std::string, PartitionFacts> candidates_of(
    const ShapeNeeds& needs, const std::map<std::string, PartitionFacts>& partitions) {
  std::map<std::string, PartitionFacts> named;
  std::map<std::string, PartitionFacts> defaults;
  for (const auto& [name, partition] : partitions) {
    if (needs.partitions.count(name) > 0) named.emplace(name, partition);
    if (partition.is_default) defaults.emplace(name, partition);
  }
  if (!needs.partitions.empty()) return named;
  return defaults.empty() ? partitions : defaults;
}

void judge_little_memory(const ShapeNeeds& needs, const std::string& subject, Findings& findings) {
  if (needs.memory_mb <= 0 || needs.memory_mb >= kLittleMemory) return;
  const auto source = needs.sources.find("mem");
  findings.warn(subject,
                "asks for " + memory_text(needs.memory_mb) +
                    " of memory a node: a number without a unit is in MB",
                "write " + std::to_string(needs.memory_mb) + "G if gigabytes are meant" +
                    (source == needs.sources.end() ? "" : ": " + source->second));
}

std::string advice_on(const ShapeNeeds& needs, const Problems& problems) {
  Names sources;
  for (const Problem& problem : problems) {
    const auto source = needs.sources.find(problem.need);
    if (source != needs.sources.end()) sources.insert(source->second);
  }
  return "no job of this shape would start: correct " + list_of(sources) +
         ", or name another partition";
}

void judge_shape(const ShapeNeeds& needs, const SiteFacts& facts, Findings& findings) {
  const std::string subject = "shape " + needs.shape;
  judge_little_memory(needs, subject, findings);
  std::string says;
  Problems all;
  bool qos_may_lift = false;
  const auto candidates = candidates_of(needs, *facts.partitions.value);
  if (candidates.empty()) return;
  for (const auto& [name, partition] : candidates) {
    const Problems problems = problems_of(needs, name, partition, *facts.nodes.value);
    if (problems.empty()) {
      findings.good(subject, "partition '" + name + "' has what it asks for");
      return;
    }
    std::vector<std::string> clauses;
    for (const Problem& problem : problems) clauses.push_back(problem.says);
    says += (says.empty() ? "" : "; ") + ("partition '" + name + "': ") + base::joined(clauses);
    qos_may_lift =
        qos_may_lift || (!needs.qos.empty() &&
                         std::all_of(problems.begin(), problems.end(),
                                     [](const Problem& problem) { return problem.qos_may_lift; }));
    all.insert(all.end(), problems.begin(), problems.end());
  }
  if (qos_may_lift) {
    findings.warn(subject, says, "make sure that QOS '" + needs.qos + "' overrides the limit");
  } else {
    findings.bad(subject, says, advice_on(needs, all));
  }
}

}  // namespace

void judge_shapes(const SiteFacts& facts, const Examination& what, Findings& findings) {
  if (!facts.partitions.value || !facts.nodes.value) return;
  for (const ShapeNeeds& needs : what.shapes) judge_shape(needs, facts, findings);
}

}  // namespace slurm
