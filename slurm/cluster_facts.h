// What a planner needs to know of a cluster at one time: its nodes with what is busy, its
// partitions, everybody's jobs in Slurm's order, and, from Cluster::facts_with_limits(), the limits
// of QOS and associations. Cluster::facts() asks for them; the functions here combine the answers.
// Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "slurm/queued_job.h"
#include "slurm/site_facts.h"

namespace slurm {

// GPUs and processors of a node that are busy without a job that the cluster shows (PrivateData
// hides other users' jobs): for each, since when, in seconds since the epoch, oldest first.
struct UnseenUse {
  std::vector<int64_t> gpus{};
  std::vector<int64_t> cpus{};

  bool operator==(const UnseenUse&) const = default;
};
using UnseenByNode = std::map<std::string, UnseenUse>;

struct ClusterFacts {
  bool complete = false;  // otherwise nodes, partitions or jobs are missing or old
  std::string problem{};  // why it is not complete, for the user
  // The site's nodes, partitions and, if they were asked for, the limits that slurmdbd keeps.
  // `site.now` is when nodes and partitions were read; 0: never.
  SiteFacts site{};
  // Why the limits of QOS and associations are not known, one clause; empty: they are.
  std::string limits_problem{};
  std::vector<QueuedJob> running{};  // completing ones included
  std::vector<QueuedJob> waiting{};  // in the order in which Slurm considers them
  UnseenByNode unseen{};
};

// Sorts everybody's jobs into those that run and those that wait, in Slurm's order: by the tier of
// the partition, then by priority, then by age. Jobs that are over are left out.
void set_jobs(std::vector<QueuedJob> everybody, ClusterFacts& facts);

// What is busy on each node in addition to what running jobs hold there. Devices that were busy
// `before` keep their time, new ones get `now`; if fewer are busy than before, those busy longest
// are dropped.
UnseenByNode unseen_use(const UnseenByNode& before, const ClusterFacts& facts, int64_t now);

}  // namespace slurm
