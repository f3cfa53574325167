// Plans the next attempt at an item, both for the launcher and for `margay render`, so that the
// latter prints the script that would be submitted. Nothing is written and nothing submitted.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/records.h"
#include "scheduler/config/config.h"
#include "scheduler/policy/plan.h"
#include "scheduler/states/transition.h"

namespace scheduler {

struct PlanContext {
  const Config& config;
  db::Database& database;
  int64_t now = 0;  // seconds since the epoch
  // Returns how many nodes the cluster has; 0: not known. It may ask the cluster, and is called
  // only when there are failures that may exclude a host.
  std::function<int()> nodes;
};

struct AttemptPlan {
  // Has item_id, number, token, directory, resume_from, script and its hash, gpus, nodes,
  // gpus_per_node and release_due.
  db::Attempt attempt{};
  std::string width_text{};  // what its script asks for: "1 GPU", "4 nodes (16 GPUs)"
  std::set<std::string> excluded_hosts{};
  slurm::Directives raised{};  // options that ask for more than the item's and the site's options
};

struct JobTime {
  int64_t segment = 0;  // as in ScriptInputs
  int64_t limit = 0;
  int64_t longest = 0;
};

// Plans an attempt of this shape. On the local cluster the width does not matter. The script's
// values depend on the earlier attempts since the last `retry`: the newest checkpoint of any of
// them, a smaller batch and more memory after the memory did not suffice, a longer time after a
// time limit. With a segment (seconds), the job stops with a checkpoint after that time, or later
// when earlier segments ended without progress. Throws ScriptError or slurm::DirectiveError.
AttemptPlan plan_attempt(const PlanContext& context, const db::Item& item, JobShape shape,
                         JobTime time = {});
// Plans the attempt that `start` submits.
AttemptPlan plan_attempt(const PlanContext& context, const db::Item& item, const JobStart& start);

// The hosts that the item's next job must not use.
std::set<std::string> hosts_to_avoid(const PlanContext& context, int64_t item_id);

// Counts by cause the failures of the item's attempts since the last `retry`, without exempt ones.
// A refusal to give more time or memory may be about the number of jobs, so it counts only while it
// is the newest: the next attempt does not ask for more, and the one after it does again.
Failures failures_of(const std::vector<db::Attempt>& attempts, int exempt_through);

// Counts only the failures in a row, from the last attempt that got further than the one before it.
// A long search has many jobs, and occasional failures must not add up.
Failures failures_in_row(const std::vector<db::Attempt>& attempts, int exempt_through);

}  // namespace scheduler
