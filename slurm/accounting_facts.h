// What slurmdbd keeps about a site: its QOS and associations with their limits, and which of them
// limit a job. Plain data and pure functions; nothing here asks the site.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace slurm {

using Names = std::set<std::string>;

// Counts by Slurm's names of trackable resources: "cpu", "node", "mem" (in MB), "gres/gpu".
using Tres = std::map<std::string, int64_t>;

// Limits of a QOS or of an association on a job; what is unset is not limited.
struct JobLimits {
  std::optional<int64_t> most_minutes{};    // MaxWall
  Tres of_job{};                            // MaxTRESPerJob
  Tres of_node{};                           // MaxTRESPerNode
  Tres of_user{};                           // MaxTRESPerUser; only a QOS has it
  Tres of_all{};                            // GrpTRES
  std::optional<int64_t> most_submitted{};  // MaxSubmitJobs of one user, running ones included
};

struct QosFacts {
  JobLimits limits{};
  bool lifts_time = false;      // PartitionTimeLimit: over a partition's MaxTime
  bool lifts_nodes = false;     // PartitionMaxNodes: over a partition's MaxNodes
  bool over_partition = false;  // OverPartQOS: its limits come before those of a partition's QOS
};

// The association of a user with an account; without a user, that of the account and all accounts
// below it. slurmdbd passes limits on from account to user; `limits` contains the inherited ones
// except GrpTRES, as Slurm answers.
struct Association {
  std::string cluster{};
  std::string account{};
  std::string user{};
  std::string partition{};  // empty: any
  std::string parent{};     // of an account, the account above it
  Names qos{};
  std::string default_qos{};
  JobLimits limits{};
};

struct AssociationFacts {
  std::string default_account{};   // that of the user who submits the jobs
  std::vector<Association> all{};  // of that user and of accounts
};

// The accounts with which `user` has an association.
Names accounts_of(const AssociationFacts& facts, const std::string& user);

// The clusters that the associations name. If there are several, it is not known which of them is
// this one.
Names clusters_of(const AssociationFacts& facts);

// Limits and what sets them.
struct LimitedBy {
  std::string name{};  // "QOS 'brief'", "account 'lab'"
  JobLimits limits{};
};

// Where a job is submitted, and for whom.
struct JobPlace {
  std::string user{};
  std::string account{};  // empty: the default one
  std::string qos{};      // empty: the default one
  std::string partition{};
  std::string partition_qos{};
};

// The limits that apply to such a job. Slurm takes each limit from the first QOS that has it,
// otherwise from the user's association; GrpTRES, where no QOS has it, from the association and all
// accounts above.
struct LimitsOfJob {
  std::string account{};              // empty: it is not known which
  Names accounts{};                   // that account and all accounts known to be above it
  bool knows_accounts_above = false;  // `accounts` is complete up to the root
  std::string qos{};
  std::vector<LimitedBy> by_qos{};
  std::vector<LimitedBy> by_association{};  // the user's own first
};

// Compares names of accounts or of QOS, which slurmdbd keeps in lower case.
bool same_name(const std::string& one, const std::string& other);

using QosByName = std::map<std::string, QosFacts>;

LimitsOfJob limits_of_job(const QosByName& qos, const AssociationFacts& associations,
                          const JobPlace& place);

}  // namespace slurm
