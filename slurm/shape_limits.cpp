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
constexpr const char* kAppliesLimits = "Slurm applies limits (AccountingStorageEnforce)";

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

bool has(const Names& list, const std::string& name) {
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& one) { return same_name(one, name); });
}

void judge_qos(const std::string& qos, const PartitionFacts& partition, ShapeProblems& problems) {
  if (qos.empty()) return;
  if (!partition.qos.empty() && !has(partition.qos, qos)) {
    problems.push_back({.says = "its AllowQos (" + list_of(partition.qos) + ") lacks '" + qos + "'",
                        .need = "qos"});
  } else if (partition.qos.empty() && has(partition.denied_qos, qos)) {
    problems.push_back({.says = "its DenyQos has '" + qos + "'", .need = "qos"});
  }
}

// An account in the list stands for all below it, too.
void judge_allowed(const LimitsOfJob& job, const Names& allowed, ShapeProblems& problems) {
  if (std::any_of(job.accounts.begin(), job.accounts.end(),
                  [&](const std::string& account) { return has(allowed, account); })) {
    return;
  }
  problems.push_back(
      {.says = "its AllowAccounts (" + list_of(allowed) + ") lacks '" + job.account + "'",
       .need = "account",
       .only_if = job.knows_accounts_above
                      ? ""
                      : "no account above '" + job.account + "' is in AllowAccounts"});
}

// Releases of Slurm whose lists are not hierarchical accept an account below one that is denied.
void judge_denied(const LimitsOfJob& job, const Names& denied, ShapeProblems& problems) {
  if (has(denied, job.account)) {
    problems.push_back({.says = "its DenyAccounts has '" + job.account + "'", .need = "account"});
    return;
  }
  for (const std::string& account : job.accounts) {
    if (!has(denied, account)) continue;
    problems.push_back(
        {.says = "its DenyAccounts has '" + account + "', above '" + job.account + "'",
         .need = "account",
         .only_if = "this release of Slurm denies the accounts below one in DenyAccounts, too "
                    "(older ones do not)"});
  }
}

void judge_account(const LimitsOfJob& job, const PartitionFacts& partition,
                   ShapeProblems& problems) {
  if (job.account.empty()) return;
  if (partition.accounts.empty()) {
    judge_denied(job, partition.denied_accounts, problems);
  } else {
    judge_allowed(job, partition.accounts, problems);
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

ShapeProblems problems_of(const ShapeNeeds& needs, const LimitsOfJob& job, const std::string& name,
                          const PartitionFacts& partition, const NodeTotals& totals) {
  Nodes nodes;
  for (const NodeFacts& node : totals.each) {
    if (node.partitions.count(name) > 0) nodes.push_back(&node);
  }
  ShapeProblems problems;
  judge_time(needs, partition, problems);
  judge_width(needs, partition, problems);
  judge_node_needs(needs, partition, nodes, problems);
  judge_account(job, partition, problems);
  judge_qos(job.qos, partition, problems);
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

// Without those that the job's QOS lifts; where nothing is known of it, all depends on its flags.
void consider_qos(const SiteFacts& facts, const std::string& name, ShapeProblems& problems) {
  if (facts.qos.value && facts.qos.value->contains(name)) {
    const QosFacts& qos = facts.qos.value->at(name);
    std::erase_if(problems,
                  [&](const ShapeProblem& problem) { return lifts(qos, problem.lifted_by); });
    return;
  }
  if (name.empty()) return;
  for (ShapeProblem& problem : problems) {
    if (problem.lifted_by == LiftedBy::kNothing) continue;
    problem.only_if = "QOS '" + name + "' does not override the limit";
  }
}

// Nothing where Slurm applies no limits.
AccountingProblems accounting_problems(const ShapeNeeds& needs, const LimitsOfJob& limits,
                                       const std::optional<bool>& enforces_limits) {
  if (!enforces_limits.value_or(true)) return {};
  AccountingProblems problems = problems_of_accounting(needs, limits);
  if (enforces_limits) return problems;
  for (ShapeProblem& problem : problems.never) problem.only_if = kAppliesLimits;
  for (ShapeProblem& problem : problems.slow) problem.only_if = kAppliesLimits;
  return problems;
}

// What a shape meets in one partition.
struct Trial {
  ShapeProblems problems{};
  ShapeProblems slow{};

  // Whether a job may start all the same, by what is not known.
  bool is_open() const {
    return std::none_of(problems.begin(), problems.end(),
                        [](const ShapeProblem& problem) { return problem.only_if.empty(); });
  }
};

Trial try_partition(const ShapeNeeds& needs, const std::string& name,
                    const PartitionFacts& partition, const SiteFacts& facts) {
  const LimitsOfJob limits = limits_in(facts, needs, name, partition);
  Trial trial{.problems = problems_of(needs, limits, name, partition, *facts.nodes.value)};
  consider_qos(facts, limits.qos, trial.problems);
  AccountingProblems accounting = accounting_problems(needs, limits, facts.enforces_limits);
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

// `only_if`: what it depends on whether they hold jobs back.
std::string advice_on(const ShapeNeeds& needs, const ShapeProblems& problems,
                      const Names& only_if) {
  Names sources;
  for (const ShapeProblem& problem : problems) sources.insert(source_of(needs, problem.need));
  return "no job of this shape would start" +
         (only_if.empty() ? "" : " if " + base::joined(only_if, " or ")) + ": correct " +
         list_of(sources) + ", or name another partition, account or QOS";
}

std::string says_of(const std::string& partition, const ShapeProblems& problems) {
  std::vector<std::string> clauses;
  for (const ShapeProblem& problem : problems) clauses.push_back(problem.says);
  return "partition '" + partition + "': " + base::joined(clauses);
}

void judge_slow(const ShapeNeeds& needs, const std::string& subject, const ShapeProblems& slow,
                Findings& findings) {
  for (const ShapeProblem& problem : slow) {
    findings.warn(subject, problem.says,
                  (problem.only_if.empty() ? "" : "if " + problem.only_if + ", ") +
                      "have the limit raised, or lower " + source_of(needs, problem.need));
  }
}

void judge_shape(const ShapeNeeds& needs, const SiteFacts& facts, Findings& findings) {
  const std::string subject = "shape " + needs.shape;
  judge_little_memory(needs, subject, findings);
  std::vector<std::string> says;
  ShapeProblems all;
  Names only_if;
  const auto candidates = candidates_of(needs, *facts.partitions.value);
  if (candidates.empty()) return;
  for (const auto& [name, partition] : candidates) {
    const Trial trial = try_partition(needs, name, partition, facts);
    if (trial.problems.empty()) {
      findings.good(subject, "partition '" + name + "' has what it asks for");
      judge_slow(needs, subject, trial.slow, findings);
      return;
    }
    says.push_back(says_of(name, trial.problems));
    for (const ShapeProblem& problem : trial.problems) {
      if (trial.is_open()) only_if.insert(problem.only_if);
      all.push_back(problem);
    }
  }
  const auto level = only_if.empty() ? Finding::Level::kBad : Finding::Level::kWarning;
  findings.judge(false, level, subject, base::joined(says, "; "), advice_on(needs, all, only_if));
}

}  // namespace

void judge_shapes(const SiteFacts& facts, const Examination& what, Findings& findings) {
  if (!facts.partitions.value || !facts.nodes.value) return;
  for (const ShapeNeeds& needs : what.shapes) judge_shape(needs, facts, findings);
}

}  // namespace slurm
