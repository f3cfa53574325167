// A job in the cluster's queue, of any user: what the daemon tracks of its own jobs, and what a
// planner needs to know of every job. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slurm/accounting_facts.h"
#include "slurm/cluster.h"

namespace slurm {

struct QueuedJob {
  JobStatus status{};  // a Margay job's name is the attempt's token
  bool ours = false;   // whether it is a Margay job, by its name
  std::string user{};  // empty: not said
  std::string account{};
  std::string qos{};
  Names partitions{};               // the one in which it runs, or all in which it may start
  int nodes = 0;                    // that it has or asks for; 0: not said
  int64_t cpus = 0;                 // that it has or asks for in all; 0: not said
  std::string node_list{};          // of a running job, in Slurm's notation
  std::vector<int> gpus_by_node{};  // of a running job, in the order of node_list; may be empty
  std::optional<int64_t> limit_minutes{};  // unset: unlimited, or not said
  // Seconds since the epoch; 0: not known.
  int64_t limit_end = 0;       // when a running job reaches its time limit
  int64_t expected_start = 0;  // when Slurm expects a waiting job to start
  int64_t priority = 0;        // Slurm's
  int waiting_tasks = 1;       // waiting tasks of an array, which is listed as one job
};

// What a job holds on one node.
struct NodeShare {
  std::string node{};
  int gpus = 0;
  int64_t cpus = 0;
};

// What a running job holds on each of its nodes. Where the cluster does not say how its GPUs and
// processors are spread, they are spread evenly, with the remainder on the first nodes. Empty where
// its list of nodes cannot be read.
std::vector<NodeShare> shares_of(const QueuedJob& job);

}  // namespace slurm
