#include "slurm/accounting_facts.h"

#include <algorithm>

#include "base/text.h"

namespace slurm {
namespace {

constexpr const char* kRoot = "root";          // the account above all
constexpr const char* kDefaultQos = "normal";  // of Slurm's own, where nothing names another

// An association for the partition alone comes before the one for any.
const Association* association_of(const AssociationFacts& facts, const JobPlace& place,
                                  const std::string& account) {
  const Association* found = nullptr;
  for (const Association& one : facts.all) {
    if (one.user != place.user || !same_name(one.account, account)) continue;
    if (one.partition == place.partition) return &one;
    if (one.partition.empty()) found = &one;
  }
  return found;
}

const Association* account_of(const AssociationFacts& facts, const std::string& name) {
  const auto found = std::find_if(facts.all.begin(), facts.all.end(), [&](const Association& one) {
    return one.user.empty() && same_name(one.account, name);
  });
  return found == facts.all.end() ? nullptr : &*found;
}

// Empty where no association is known.
std::string default_qos_of(const AssociationFacts& facts, const Association* association) {
  if (facts.all.empty()) return "";
  if (association != nullptr && !association->default_qos.empty()) return association->default_qos;
  if (association != nullptr && association->qos.size() == 1) return *association->qos.begin();
  const Association* root = account_of(facts, kRoot);
  return root == nullptr || root->default_qos.empty() ? kDefaultQos : root->default_qos;
}

// The account and those above it. Empty where nothing is known of them: `user` may ask for its own
// association alone.
std::vector<const Association*> accounts_from(const AssociationFacts& facts,
                                              const std::string& account) {
  std::vector<const Association*> line;
  Names seen;
  for (const Association* at = account_of(facts, account);
       at != nullptr && seen.insert(at->account).second; at = account_of(facts, at->parent)) {
    line.push_back(at);
  }
  return line;
}

std::vector<LimitedBy> qos_limits(const QosByName& qos, const std::string& own,
                                  const std::string& of_partition) {
  std::vector<LimitedBy> limits;
  const auto add = [&](const std::string& name) {
    const auto found = qos.find(name);
    if (found == qos.end()) return;
    limits.push_back({.name = "QOS '" + name + "'", .limits = found->second.limits});
  };
  add(of_partition);
  if (own != of_partition) add(own);
  const auto found = qos.find(own);
  if (found != qos.end() && found->second.over_partition) {
    std::reverse(limits.begin(), limits.end());
  }
  return limits;
}

}  // namespace

bool same_name(const std::string& one, const std::string& other) {
  return base::lower(one) == base::lower(other);
}

Names accounts_of(const AssociationFacts& facts, const std::string& user) {
  Names accounts;
  for (const Association& one : facts.all) {
    if (one.user == user) accounts.insert(one.account);
  }
  return accounts;
}

Names clusters_of(const AssociationFacts& facts) {
  Names clusters;
  for (const Association& one : facts.all) clusters.insert(one.cluster);
  return clusters;
}

LimitsOfJob limits_of_job(const QosByName& qos, const AssociationFacts& associations,
                          const JobPlace& place) {
  LimitsOfJob job{.account = place.account.empty() ? associations.default_account : place.account};
  const Association* own = association_of(associations, place, job.account);
  job.qos = place.qos.empty() ? default_qos_of(associations, own) : place.qos;
  job.by_qos = qos_limits(qos, job.qos, place.partition_qos);
  if (own != nullptr) {
    job.by_association.push_back(
        {.name = own->user + "'s association with account '" + own->account + "'",
         .limits = own->limits});
  }
  if (!job.account.empty()) job.accounts.insert(job.account);
  for (const Association* account : accounts_from(associations, job.account)) {
    job.by_association.push_back(
        {.name = "account '" + account->account + "'", .limits = account->limits});
    job.accounts.insert(account->account);
    job.knows_accounts_above = account->account == kRoot;
  }
  return job;
}

}  // namespace slurm
