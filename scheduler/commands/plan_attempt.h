// The next attempt at an item, planned in one place: `margay render` prints the script that the
// launcher would submit, since both take it from here. Nothing is written and nothing submitted.
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
#include "scheduler/policy/transition.h"

namespace scheduler {

struct PlanContext {
  const Config& config;
  db::Database& database;
  int64_t now = 0;  // seconds since the epoch
  // How many nodes the cluster has, 0 when that is not known. It may ask the cluster, and is called
  // only when there are failures that may exclude a host.
  std::function<int()> nodes;
};

struct AttemptPlan {
  // item_id, number, token, directory, resume_from, script and its hash, gpus, nodes, gpus_per_node
  // and release_due.
  db::Attempt attempt{};
  std::string width_text{};  // what its script asks for: "1 GPU", "4 nodes (16 GPUs)"
  std::set<std::string> excluded_hosts{};
  slurm::Directives raised{};  // what it asks for more of than the item's and the site's options
};

struct JobTime {
  int64_t segment = 0;  // ScriptInputs'
  int64_t limit = 0;
  int64_t longest = 0;
};

// On the local cluster the width does not matter. The script's values come from the earlier
// attempts since the last `retry`: the newest checkpoint of any of them, a smaller batch and more
// memory after the memory did not suffice, a longer time after a time limit. Throws ScriptError or
// slurm::DirectiveError.
// With a segment, seconds, its job stops with a checkpoint after that, or later where segments
// before it ended without any progress.
AttemptPlan plan_attempt(const PlanContext& context, const db::Item& item, JobShape shape,
                         JobTime time = {});
// The one that this start submits.
AttemptPlan plan_attempt(const PlanContext& context, const db::Item& item, const JobStart& start);

// The hosts that the next job of this item is kept away from.
std::set<std::string> hosts_to_avoid(const PlanContext& context, int64_t item_id);

// By cause, of the item's attempts since the last `retry`, without exempt ones. A refusal to give
// more time or memory that may be about the number of jobs is among them only while it is the
// newest: the next attempt does without, and the one after it asks for more again.
Failures failures_of(const std::vector<db::Attempt>& attempts, int exempt_through);

// Those in a row: since the last attempt that got further than the one before it, itself included.
// A long search has many jobs, and what ended them now and then does not add up.
Failures failures_in_row(const std::vector<db::Attempt>& attempts, int exempt_through);

}  // namespace scheduler
