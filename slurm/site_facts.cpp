#include "slurm/site_facts.h"

#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "slurm/gpu_count.h"

namespace slurm {
namespace {

constexpr int64_t kMostSkew = 30;  // seconds; munge's tokens are good for 300
constexpr const char* kLimitsUnknown = ": the limits of QOS and associations are unknown";
constexpr const char* kCorrectNames = "correct slurm.options or the script template";

void judge_clock(const SiteFacts& facts, Findings& findings) {
  constexpr const char* kAdvice = "synchronise both machines by NTP";
  if (!facts.controller_time.value) {
    if (facts.controller_time.problem.empty()) return;
    findings.warn("clock", "the controller's time is not known: " + facts.controller_time.problem,
                  kAdvice);
    return;
  }
  const int64_t skew = *facts.controller_time.value - facts.now;
  const std::string says = "the controller's clock is " + std::to_string(std::llabs(skew)) + " s " +
                           (skew < 0 ? "behind" : "ahead of") + " this machine's";
  findings.judge(std::llabs(skew) <= kMostSkew, Finding::Level::kWarning, "clock", says, kAdvice);
}

void judge_names(const std::string& kind, const Names& wanted, const Names& there,
                 const std::string& advice, Findings& findings) {
  for (const std::string& name : wanted) {
    const bool exists = there.count(name) > 0;
    findings.judge(exists, Finding::Level::kBad, kind + " '" + name + "'",
                   exists ? "exists" : "does not exist; there are: " + list_of(there), advice);
  }
}

void judge_partitions(const SiteFacts& facts, const Names& names, Findings& findings) {
  if (!facts.partitions.value) {
    findings.bad("partitions", facts.partitions.problem, "run scontrol show partition");
    return;
  }
  Names wanted = names;
  Names there;
  for (const auto& [name, partition] : *facts.partitions.value) {
    there.insert(name);
    if (partition.state == "UP" || wanted.erase(name) == 0) continue;
    findings.warn("partition '" + name + "'", "its state is " + partition.state,
                  "jobs wait there until it is up");
  }
  judge_names("partition", wanted, there, kCorrectNames, findings);
}

Names names_of(const QosByName& all) {
  Names names;
  for (const auto& [name, qos] : all) names.insert(name);
  return names;
}

// Whether the limits of QOS and associations are known; else they are in no other finding.
void judge_limits_known(const SiteFacts& facts, Findings& findings) {
  constexpr const char* kSubject = "limits of QOS and associations";
  constexpr const char* kAdvice = "run sacctmgr show associations, sacctmgr show qos";
  if (!facts.enforces_limits.value_or(true)) {
    findings.good(kSubject, "Slurm applies none: AccountingStorageEnforce lacks 'limits'");
  } else if (!facts.qos.value || !facts.associations.value) {
    const std::string& problem = facts.qos.value ? facts.associations.problem : facts.qos.problem;
    findings.warn(kSubject, "unknown: " + problem, kAdvice);
  } else if (const Names clusters = clusters_of(*facts.associations.value); clusters.size() > 1) {
    findings.warn(kSubject,
                  "those of associations are unknown: slurmdbd has some of the clusters " +
                      list_of(clusters) + ", and slurmrestd does not say which of them this is",
                  kAdvice);
  }
}

// "cannot be checked without accounting", "cannot be checked (Access denied)".
void warn_of_unchecked(const std::string& kind, const Names& names, const std::string& why,
                       Findings& findings) {
  if (names.empty()) return;
  findings.warn(kind, "cannot be checked " + why + ": " + list_of(names),
                "watch the first job of each");
}

void warn_of_unchecked(const Examination& what, const std::string& why, Findings& findings) {
  warn_of_unchecked("account", what.accounts, why, findings);
  warn_of_unchecked("QOS", what.qos, why, findings);
}

void judge_accounted_names(const SiteFacts& facts, const Examination& what, Findings& findings) {
  if (facts.qos.value) {
    judge_names("QOS", what.qos, names_of(*facts.qos.value), kCorrectNames, findings);
  } else {
    warn_of_unchecked("QOS", what.qos, "(" + facts.qos.problem + ")", findings);
  }
  if (facts.associations.value) {
    judge_names(
        "account", what.accounts, accounts_of(*facts.associations.value, facts.user),
        "correct slurm.options, or let an administrator give " + facts.user + " the account",
        findings);
  } else {
    warn_of_unchecked("account", what.accounts, "(" + facts.associations.problem + ")", findings);
  }
}

void judge_accounting_asked(const SiteFacts& facts, const Examination& what, Findings& findings) {
  if (!facts.accounting.value) {
    findings.bad("accounting", facts.accounting.problem + kLimitsUnknown,
                 "check slurmdbd, or set slurm.accounting to off");
    warn_of_unchecked(what, "(" + facts.accounting.problem + ")", findings);
    return;
  }
  findings.good("accounting", *facts.accounting.value + " answers");
  judge_limits_known(facts, findings);
  judge_accounted_names(facts, what, findings);
}

void judge_accounting(const SiteFacts& facts, const Examination& what, Findings& findings) {
  constexpr const char* kWithout = "without accounting";
  switch (facts.accounting_use) {
    case AccountingUse::kOff:
      findings.warn("accounting", std::string("not asked (slurm.accounting: off)") + kLimitsUnknown,
                    "set slurm.accounting to auto where the site has accounting");
      warn_of_unchecked(what, kWithout, findings);
      return;
    case AccountingUse::kNone:
      findings.good("accounting", std::string("not used") + kLimitsUnknown);
      warn_of_unchecked(what, kWithout, findings);
      return;
    case AccountingUse::kAsked:
      judge_accounting_asked(facts, what, findings);
      return;
  }
}

void judge_nodes(const SiteFacts& facts, const Examination& what, Findings& findings) {
  if (!facts.nodes.value) {
    findings.bad("nodes", facts.nodes.problem, "run sinfo");
    return;
  }
  const int nodes = facts.nodes.value->nodes;
  const int gpus = facts.nodes.value->gpus;
  const std::string says =
      std::to_string(nodes) + " nodes with " + std::to_string(gpus) + " GPUs in all";
  findings.judge(!what.gpus || gpus > 0, Finding::Level::kBad, "GPUs", says,
                 "check GresTypes, gres.conf and the Gres of the nodes");
  if (what.nodes == 0 || nodes == 0) return;
  const std::string width = "slurm.nodes is " + std::to_string(what.nodes) +
                            ", and the cluster has " + std::to_string(nodes);
  findings.judge(what.nodes <= nodes, Finding::Level::kBad, "shape nodes", width,
                 "lower slurm.nodes: Slurm refuses every wider job");
}

}  // namespace

void set_gpus(const std::string& has, const std::string& used, NodeFacts& node) {
  node.gpus = gpus_in(has).value_or(0);
  node.gpus_busy = std::min(node.gpus, gpus_in(used).value_or(0));
  for (const auto& [kind, gpus] : gpu_kinds_in(has)) node.gpu_kinds[kind].gpus = gpus;
  for (const auto& [kind, busy] : gpu_kinds_in(used)) {
    const auto found = node.gpu_kinds.find(kind);
    if (found != node.gpu_kinds.end()) found->second.busy = std::min(found->second.gpus, busy);
  }
}

void set_state(const std::set<std::string>& words, NodeFacts& node) {
  node.words = base::joined(words, "+");
  node.use = words.empty() ? NodeUse::kUsable : use_of_node(words);
}

void copy_accounting(const SiteFacts& from, SiteFacts& to) {
  to.accounting_use = from.accounting_use;
  to.accounting = from.accounting;
  to.qos = from.qos;
  to.associations = from.associations;
  to.enforces_limits = from.enforces_limits;
}

std::string why_limits_are_unknown(const SiteFacts& facts) {
  if (!facts.enforces_limits.value_or(true)) return "";
  switch (facts.accounting_use) {
    case AccountingUse::kOff:
      return "slurm.accounting is off";
    case AccountingUse::kNone:
      return "the site has no accounting (slurmdbd)";
    case AccountingUse::kAsked:
      break;
  }
  for (const std::string* problem :
       {&facts.accounting.problem, &facts.qos.problem, &facts.associations.problem}) {
    if (!problem->empty()) return *problem;
  }
  if (!facts.qos.value || !facts.associations.value) return "accounting was not asked yet";
  const Names clusters = clusters_of(*facts.associations.value);
  if (clusters.size() < 2) return "";
  return "slurmdbd has associations of the clusters " + list_of(clusters) +
         ", and slurmrestd does not say which of them this is";
}

std::string list_of(const Names& names) { return names.empty() ? "none" : base::joined(names); }

void judge_site(const SiteFacts& facts, const Examination& what, Findings& findings) {
  judge_clock(facts, findings);
  judge_partitions(facts, what.partitions, findings);
  judge_accounting(facts, what, findings);
  judge_nodes(facts, what, findings);
  judge_shapes(facts, what, findings);
}

}  // namespace slurm
