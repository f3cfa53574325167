// What a planner needs to know of a cluster at one time: its nodes with what is busy, its
// partitions, everybody's jobs in Slurm's order, and, from Cluster::facts_with_limits(), the limits
// of QOS and associations. Cluster::facts() reads them; what is here joins what was read. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "slurm/queued_job.h"
#include "slurm/site_facts.h"

namespace slurm {

// GPUs and processors of a node that are busy, but with no job that the cluster shows (PrivateData
// hides those of others): since when each is, as seconds since the epoch, the oldest first.
struct UnseenUse {
  std::vector<int64_t> gpus{};
  std::vector<int64_t> cpus{};

  bool operator==(const UnseenUse&) const = default;
};
using UnseenByNode = std::map<std::string, UnseenUse>;

struct ClusterFacts {
  bool complete = false;  // else nodes, partitions or jobs are missing or old
  std::string problem{};  // why, for the user
  // Of the site: nodes, partitions and, if they were asked for, the limits that slurmdbd keeps;
  // `site.now` is when nodes and partitions were read, 0: never.
  SiteFacts site{};
  // Why the limits of QOS and associations are not known, one clause; empty: they are.
  std::string limits_problem{};
  std::vector<QueuedJob> running{};  // those that are completing, too
  std::vector<QueuedJob> waiting{};  // in the order in which Slurm considers them
  UnseenByNode unseen{};
};

// Sorts everybody's jobs into those that run and those that wait, in Slurm's order: by the tier of
// the partition, then by priority, then by age. Jobs that are over are left out.
void set_jobs(std::vector<QueuedJob> everybody, ClusterFacts& facts);

// What is busy on each node beyond what the jobs that run hold there. What was busy `before` keeps
// its time, and what is new gets `now`; when less is busy than before, the oldest has ended.
UnseenByNode unseen_use(const UnseenByNode& before, const ClusterFacts& facts, int64_t now);

}  // namespace slurm
