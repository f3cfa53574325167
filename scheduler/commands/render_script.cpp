#include "scheduler/commands/render_script.h"

#include <algorithm>
#include <memory>

#include "db/attempts.h"
#include "db/items.h"
#include "scheduler/commands/read_snapshot.h"
#include "scheduler/errors.h"
#include "scheduler/policy/cluster_limits.h"
#include "scheduler/policy/start_at_turn.h"
#include "scheduler/script/job_script.h"
#include "scheduler/script/substitute.h"

namespace scheduler {
namespace {

TurnItem turn_of(const db::Item& item, const ClusterLimits& limits) {
  return {.item = {.id = item.id,
                   .priority = item.priority,
                   .asks = std::make_shared<const ItemAsks>(
                       asks_of(item.priority, item.options, limits)),
                   .left = static_cast<float>(std::clamp(1 - item.searched, 0.0, 1.0))},
          .kind = {.template_id = item.template_id,
                   .image_width = item.micrograph_size.width,
                   .image_height = item.micrograph_size.height}};
}

RenderedScript next_script(const PlanContext& context, const Plan& plan, const db::Item& item,
                           std::optional<Shape> shape) {
  std::optional<JobShape> job;
  if (shape) job = job_shape_of(context.config.slurm, *shape);
  const StartAtTurn turn = start_at_turn(plan, turn_of(item, plan.limits),
                                         job ? std::optional(job->width) : std::nullopt);
  const JobStart& start = turn.start;
  if (job) job->nice_of = start.floor_over;
  const JobTime time{.segment = start.segment, .limit = start.limit, .longest = start.longest};
  const db::Attempt attempt =
      (job ? plan_attempt(context, item, *job, time) : plan_attempt(context, item, start)).attempt;
  return {.text = attempt.script,
          .attempt = attempt.number,
          .token = attempt.token,
          .planned = turn.planned};
}

}  // namespace

RenderedScript render_item(const PlanContext& context, const PublishedPlan* plan, int64_t item_id,
                           std::optional<Shape> shape) {
  const auto item = db::ItemStore(context.database).find(item_id);
  if (!item) throw NotFound("no item " + std::to_string(item_id));
  const db::AttemptStore attempts(context.database);
  const auto newest = attempts.newest_of_item(item_id);
  if (newest && !shape) {
    return {.text = attempts.script(newest->id),
            .attempt = newest->number,
            .token = newest->token,
            .submitted = true};
  }
  try {
    const Plan none{.limits = limits_of(context.config)};
    return next_script(context, plan == nullptr ? none : plan->plan, *item, shape);
  } catch (const ScriptError& error) {
    throw Invalid(error.what());
  } catch (const slurm::DirectiveError& error) {
    throw Invalid(error.what());
  }
}

std::string test_script(const Config& config, slurm::Cluster& cluster,
                        const RenderedScript& script) {
  try {
    return cluster.test_only({.name = script.token,
                              .script = script.text,
                              .directory = config.jobs(),
                              .output_path = "/dev/null",
                              .environment = job_environment(config)});
  } catch (const std::runtime_error& error) {
    throw Invalid(error.what());
  }
}

}  // namespace scheduler
