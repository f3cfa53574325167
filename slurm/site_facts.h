// What is known about a site's Slurm, from either transport, and what the doctor concludes from it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "slurm/accounting_facts.h"
#include "slurm/cluster.h"
#include "slurm/node_states.h"

namespace slurm {

// "a, b", or "none".
std::string list_of(const Names& names);

// Collects the lines of `margay doctor` in their order.
class Findings {
 public:
  void good(const std::string& subject, const std::string& says) {
    add(Finding::Level::kGood, subject, says, "");
  }
  void warn(const std::string& subject, const std::string& says, const std::string& advice) {
    add(Finding::Level::kWarning, subject, says, advice);
  }
  void bad(const std::string& subject, const std::string& says, const std::string& advice) {
    add(Finding::Level::kBad, subject, says, advice);
  }
  // Adds a good finding, or one of level `otherwise` with the advice.
  void judge(bool good, Finding::Level otherwise, const std::string& subject,
             const std::string& says, const std::string& advice) {
    add(good ? Finding::Level::kGood : otherwise, subject, says, good ? "" : advice);
  }
  void append(const std::vector<Finding>& more) {
    all_.insert(all_.end(), more.begin(), more.end());
  }
  const std::vector<Finding>& all() const { return all_; }

 private:
  void add(Finding::Level level, const std::string& subject, const std::string& says,
           const std::string& advice) {
    all_.push_back({.level = level, .subject = subject, .says = says, .advice = advice});
  }
  std::vector<Finding> all_;
};

// The answer to one question, or why there is none. Both are empty when the question was not asked.
template <typename Value>
struct Fact {
  std::optional<Value> value{};
  std::string problem{};  // one clause
};

struct GpuKind {
  int gpus = 0;
  int busy = 0;
};

// What a node has, used or not. 0 CPUs or memory: not known.
struct NodeFacts {
  std::string name{};
  Names partitions{};
  int64_t cpus = 0;
  int64_t memory_mb = 0;
  int gpus = 0;
  std::map<std::string, GpuKind> gpu_kinds{};  // by Slurm's type; GPUs without a type are under ""
  int gpus_busy = 0;
  int64_t cpus_busy = 0;
  NodeUse use = NodeUse::kUsable;
  std::string words{};   // the cluster's words for its state, joined by '+'; empty: not said
  std::string reason{};  // why it is down or drained, by an administrator or the cluster
};

// Sets the node's GPUs and its busy GPUs from the cluster's lists of both.
void set_gpus(const std::string& has, const std::string& used, NodeFacts& node);
// Sets the node's state from the cluster's words; no words: the state is not known.
void set_state(const std::set<std::string>& words, NodeFacts& node);

struct NodeTotals {
  int nodes = 0;
  int gpus = 0;  // of all nodes together
  std::vector<NodeFacts> each{};
};

// Limits of a partition on one job; what is unset is not limited.
struct PartitionFacts {
  std::string state{};  // "UP" when it is open
  bool is_default = false;
  std::optional<int64_t> default_minutes{};  // for a job that asks for no time; unset: most_minutes
  int64_t priority_tier = 1;                 // jobs in a partition with a higher tier start first
  std::optional<int64_t> most_minutes{};
  std::optional<int64_t> most_nodes{};
  std::optional<int64_t> most_cpus{};       // of each node
  std::optional<int64_t> most_memory_mb{};  // of each node
  std::optional<int64_t> nodes{};           // nodes in the partition
  Names accounts{};                         // allowed ones; empty: all
  Names denied_accounts{};
  Names qos{};  // allowed ones; empty: all
  Names denied_qos{};
  std::string own_qos{};  // the partition's QOS: its limits apply to every job in it
};

// Whether accounting is asked, or why not: slurm.accounting is off, or the site has none.
enum class AccountingUse { kOff, kNone, kAsked };

struct SiteFacts {
  std::string user{};               // the user in whose name jobs run
  int64_t now = 0;                  // this machine's clock, s since the epoch
  Fact<int64_t> controller_time{};  // slurmctld's clock, s since the epoch
  Fact<std::map<std::string, PartitionFacts>> partitions{};  // by name
  AccountingUse accounting_use = AccountingUse::kNone;
  Fact<std::string> accounting{};  // what answers: "slurmdbd", "sacct"
  Fact<QosByName> qos{};
  Fact<AssociationFacts> associations{};
  // Whether Slurm applies the limits of QOS and associations; unset: not known.
  std::optional<bool> enforces_limits{};
  Fact<NodeTotals> nodes{};
};

// Copies what is known of accounting and its limits.
void copy_accounting(const SiteFacts& from, SiteFacts& to);

// Why the limits of QOS and associations are not known, one clause; empty: they are.
std::string why_limits_are_unknown(const SiteFacts& facts);

// Checks for each shape whether a partition that it may use allows its needs and has the nodes for
// it, and whether the QOS and the association of its jobs allow them. Adds nothing where partitions
// or nodes are not known.
void judge_shapes(const SiteFacts& facts, const Examination& what, Findings& findings);

// Adds what is right and wrong with the site: clock, partitions, accounting, its names, nodes, GPUs
// and what the shapes ask for.
void judge_site(const SiteFacts& facts, const Examination& what, Findings& findings);

}  // namespace slurm
