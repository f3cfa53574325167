// The script of an item: as it was submitted, or as it would be now.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scheduler/commands/plan_attempt.h"
#include "scheduler/commands/published_plan.h"
#include "scheduler/config/config.h"
#include "slurm/cluster.h"

namespace scheduler {

struct RenderedScript {
  std::string text{};
  int attempt = 1;
  std::string token{};      // the job's name
  bool submitted = false;   // false: it has not run, and its folder may not exist yet
  bool planned = true;      // false: width and times are the site's, until the plan chooses them
  std::string test_only{};  // the cluster's answer, if it was asked
};

// The script of the newest attempt; if there is none yet or another shape is wanted, that of the
// next attempt, with the width and times of start_at_turn(). `plan` is the daemon's last one; null
// before its first. Throws NotFound, and Invalid for a script that cannot be made.
RenderedScript render_item(const PlanContext& context, const PublishedPlan* plan, int64_t item_id,
                           std::optional<Shape> shape);

// The cluster's answer whether it would accept the script, in its own words. Throws Invalid when
// this kind of cluster cannot be asked.
std::string test_script(const Config& config, slurm::Cluster& cluster,
                        const RenderedScript& script);

}  // namespace scheduler
