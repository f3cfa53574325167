#include "slurm/cluster_facts.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/parse_number.h"
#include "slurm/cluster.h"
#include "slurm/job_states.h"

namespace slurm {
namespace {

struct Turn {
  int64_t tier = 1;
  int64_t priority = 0;
  int64_t id = 0;

  bool operator<(const Turn& other) const {
    return std::tuple(-tier, -priority, id) < std::tuple(-other.tier, -other.priority, other.id);
  }
};

// Of a job that may start in several partitions, the best one's.
int64_t tier_of(const QueuedJob& job, const SiteFacts& site) {
  int64_t tier = 0;
  if (!site.partitions.value) return tier;
  for (const std::string& name : job.partitions) {
    const auto partition = site.partitions.value->find(name);
    if (partition == site.partitions.value->end()) continue;
    tier = std::max(tier, partition->second.priority_tier);
  }
  return tier;
}

void sort_by_turn(const SiteFacts& site, std::vector<QueuedJob>& jobs) {
  std::vector<std::pair<Turn, size_t>> order;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const auto id = base::parse_number<int64_t>(jobs[i].status.job_id);
    order.push_back(
        {{.tier = tier_of(jobs[i], site), .priority = jobs[i].priority, .id = id.value_or(0)}, i});
  }
  std::sort(order.begin(), order.end());
  std::vector<QueuedJob> sorted;
  for (const auto& [turn, index] : order) sorted.push_back(std::move(jobs[index]));
  jobs = std::move(sorted);
}

// So many since when they were, the oldest first.
std::vector<int64_t> continued(std::vector<int64_t> since, int64_t count, int64_t now) {
  const auto wanted = static_cast<size_t>(std::max<int64_t>(0, count));
  if (since.size() > wanted) {
    since.erase(since.begin(), since.end() - static_cast<std::ptrdiff_t>(wanted));
  }
  since.resize(wanted, now);
  return since;
}

}  // namespace

ClusterFacts Cluster::facts_with_limits() { return facts(); }

void set_jobs(std::vector<QueuedJob> everybody, ClusterFacts& facts) {
  for (QueuedJob& job : everybody) {
    if (is_over(job.status.state)) continue;
    const bool waits = job.status.state == JobState::kPending;
    (waits ? facts.waiting : facts.running).push_back(std::move(job));
  }
  sort_by_turn(facts.site, facts.waiting);
}

UnseenByNode unseen_use(const UnseenByNode& before, const ClusterFacts& facts, int64_t now) {
  if (!facts.site.nodes.value) return before;
  std::map<std::string, NodeShare> held;
  for (const QueuedJob& job : facts.running) {
    for (const NodeShare& share : shares_of(job)) {
      held[share.node].gpus += share.gpus;
      held[share.node].cpus += share.cpus;
    }
  }
  UnseenByNode unseen;
  for (const NodeFacts& node : facts.site.nodes.value->each) {
    const auto known = before.find(node.name);
    const UnseenUse last = known == before.end() ? UnseenUse() : known->second;
    const NodeShare& seen = held[node.name];
    UnseenUse use{.gpus = continued(last.gpus, node.gpus_busy - seen.gpus, now),
                  .cpus = continued(last.cpus, node.cpus_busy - seen.cpus, now)};
    if (use != UnseenUse()) unseen.emplace(node.name, std::move(use));
  }
  return unseen;
}

}  // namespace slurm
