#include "scheduler/commands/render_script.h"

#include "db/attempts.h"
#include "db/items.h"
#include "scheduler/commands/read_snapshot.h"
#include "scheduler/errors.h"
#include "scheduler/script/job_script.h"
#include "scheduler/script/substitute.h"

namespace scheduler {

RenderedScript render_item(const PlanContext& context, int64_t item_id,
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
  const SlurmOptions& slurm = context.config.slurm;
  const JobShape job = shape ? job_shape_of(slurm, *shape) : class_shape_of(slurm, item->priority);
  try {
    const db::Attempt attempt = plan_attempt(context, *item, job).attempt;
    return {.text = attempt.script, .attempt = attempt.number, .token = attempt.token};
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
