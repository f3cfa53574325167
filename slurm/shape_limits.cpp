// Implements site_facts.h: what the shapes ask for, compared with the partitions, their nodes and
// accounting. Slurm itself refuses too little: with EnforcePartLimits=NO it accepts a job beyond
// its partition's limits and never starts it.
#include <algorithm>
#include <functional>

#include "base/text.h"
#include "slurm/shape_problem.h"
#include "slurm/site_facts.h"

namespace slurm {
namespace {

constexpr int64_t kLittleMemory = 1024;  // MB; less is meant as GB

using LiftedBy = ShapeProblem::LiftedBy;
using Nodes = std::vector<const NodeFacts*>;

std::string plain(int64_t count) { return std::to_string(count); }

void judge_time(const ShapeNeeds& needs, const PartitionFacts& partition, ShapeProblems& problems) {
  if (!partition.most_minutes || needs.minutes == 0) return;
  if (needs.minutes > 0 && needs.minutes <= *partition.most_minutes) return;
  problems.push_back({.says = "asks for " + minutes_text(needs.minutes) + ", and its MaxTime is " +
                              minutes_text(*partition.most_minutes),
                      .need = "time",
                      .lifted_by = LiftedBy::kPartitionTimeLimit});
}

void judge_width(const ShapeNeeds& needs, const PartitionFacts& partition,
                 ShapeProblems& problems) {
  const std::string asks = "asks for " + plain(needs.nodes) + " nodes, and ";
  if (partition.nodes && needs.nodes > *partition.nodes) {
    problems.push_back({.says = asks + "it has " + plain(*partition.nodes), .need = "nodes"});
  } else if (partition.most_nodes && needs.nodes > *partition.most_nodes) {
    problems.push_back({.says = asks + "its MaxNodes is " + plain(*partition.most_nodes),
                        .need = "nodes",
                        .lifted_by = LiftedBy::kPartitionMaxNodes});
  }
}

void judge_name(const std::string& name, const Names& allowed, const Names& denied,
                const std::string& need, const std::string& kind, ShapeProblems& problems) {
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
           .text = megabytes_text},
          {.name = "gpus",
           .wanted = needs.gpus,
           .most = std::nullopt,
           .limit = "",
           .has = [](const NodeFacts& node) { return int64_t{node.gpus}; },
           .text = [](int64_t count) { return plain(count) + " GPUs"; }}};
}

// False: what is asked for is beyond it.
bool judge_need(const NodeNeed& need, int wanted_nodes, const Nodes& nodes,
                ShapeProblems& problems) {
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
                      ShapeProblems& problems) {
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

ShapeProblems problems_of(const ShapeNeeds& needs, const std::string& name,
                          const PartitionFacts& partition, const NodeTotals& totals) {
  Nodes nodes;
  for (const NodeFacts& node : totals.each) {
    if (node.partitions.count(name) > 0) nodes.push_back(&node);
  }
  ShapeProblems problems;
  judge_time(needs, partition, problems);
  judge_width(needs, partition, problems);
  judge_node_needs(needs, partition, nodes, problems);
  judge_name(needs.account, partition.accounts, partition.denied_accounts, "account", "Accounts",
             problems);
  judge_name(needs.qos, partition.qos, partition.denied_qos, "qos", "Qos", problems);
  return problems;
}

// Nothing where it is not known which associations are of this cluster.
LimitsOfJob limits_in(const SiteFacts& facts, const ShapeNeeds& needs, const std::string& name,
                      const PartitionFacts& partition) {
  const AssociationFacts none;
  const bool known = facts.associations.value && clusters_of(*facts.associations.value).size() < 2;
  return limits_of_job(facts.qos.value.value_or(QosByName()),
                       known ? *facts.associations.value : none,
                       {.user = facts.user,
                        .account = needs.account,
                        .qos = needs.qos,
                        .partition = name,
                        .partition_qos = partition.own_qos});
}

bool lifts(const QosFacts& qos, LiftedBy flag) {
  switch (flag) {
    case LiftedBy::kNothing:
      return false;
    case LiftedBy::kPartitionTimeLimit:
      return qos.lifts_time;
    case LiftedBy::kPartitionMaxNodes:
      return qos.lifts_nodes;
  }
  return false;
}

// What a shape meets in one partition.
struct Trial {
  ShapeProblems problems{};
  ShapeProblems slow{};
  std::string qos_may_lift{};  // a QOS of which nothing is known, and all depends on its flags
};

Trial try_partition(const ShapeNeeds& needs, const std::string& name,
                    const PartitionFacts& partition, const SiteFacts& facts) {
  const LimitsOfJob limits = limits_in(facts, needs, name, partition);
  ShapeNeeds resolved = needs;
  resolved.account = limits.account;
  resolved.qos = limits.qos;
  Trial trial{.problems = problems_of(resolved, name, partition, *facts.nodes.value)};
  const bool may_lift =
      !trial.problems.empty() &&
      std::none_of(trial.problems.begin(), trial.problems.end(), [](const ShapeProblem& problem) {
        return problem.lifted_by == LiftedBy::kNothing;
      });
  const QosFacts* qos = nullptr;
  if (facts.qos.value && facts.qos.value->contains(limits.qos)) {
    qos = &facts.qos.value->at(limits.qos);
  }
  if (qos != nullptr) {
    std::erase_if(trial.problems,
                  [&](const ShapeProblem& problem) { return lifts(*qos, problem.lifted_by); });
  } else if (may_lift) {
    trial.qos_may_lift = limits.qos;
  }
  if (!facts.enforces_limits.value_or(true)) return trial;
  AccountingProblems accounting = problems_of_accounting(needs, limits);
  if (!accounting.never.empty()) trial.qos_may_lift.clear();
  trial.problems.insert(trial.problems.end(), accounting.never.begin(), accounting.never.end());
  trial.slow = std::move(accounting.slow);
  return trial;
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
                "asks for " + megabytes_text(needs.memory_mb) +
                    " of memory a node: a number without a unit is in MB",
                "write " + std::to_string(needs.memory_mb) + "G if gigabytes are meant" +
                    (source == needs.sources.end() ? "" : ": " + source->second));
}

std::string source_of(const ShapeNeeds& needs, const std::string& need) {
  const auto source = needs.sources.find(need);
  return source == needs.sources.end() ? "slurm.options." + need : source->second;
}

std::string advice_on(const ShapeNeeds& needs, const ShapeProblems& problems) {
  Names sources;
  for (const ShapeProblem& problem : problems) sources.insert(source_of(needs, problem.need));
  return "no job of this shape would start: correct " + list_of(sources) +
         ", or name another partition, account or QOS";
}

void judge_shape(const ShapeNeeds& needs, const SiteFacts& facts, Findings& findings) {
  const std::string subject = "shape " + needs.shape;
  judge_little_memory(needs, subject, findings);
  std::string says;
  ShapeProblems all;
  std::string qos_may_lift;
  const auto candidates = candidates_of(needs, *facts.partitions.value);
  if (candidates.empty()) return;
  for (const auto& [name, partition] : candidates) {
    const Trial trial = try_partition(needs, name, partition, facts);
    if (trial.problems.empty()) {
      findings.good(subject, "partition '" + name + "' has what it asks for");
      for (const ShapeProblem& slow : trial.slow) {
        findings.warn(subject, slow.says,
                      "have the limit raised, or lower " + source_of(needs, slow.need));
      }
      return;
    }
    std::vector<std::string> clauses;
    for (const ShapeProblem& problem : trial.problems) clauses.push_back(problem.says);
    says += (says.empty() ? "" : "; ") + ("partition '" + name + "': ") + base::joined(clauses);
    if (!trial.qos_may_lift.empty()) qos_may_lift = trial.qos_may_lift;
    all.insert(all.end(), trial.problems.begin(), trial.problems.end());
  }
  if (!qos_may_lift.empty()) {
    findings.warn(subject, says, "make sure that QOS '" + qos_may_lift + "' overrides the limit");
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
