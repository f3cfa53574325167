#include "scheduler/commands/render_script.h"

#include <algorithm>
#include <filesystem>

#include "db/attempts.h"
#include "db/items.h"
#include "scheduler/commands/read_snapshot.h"
#include "scheduler/errors.h"
#include "scheduler/files/attempt_folder.h"
#include "scheduler/script/job_script.h"
#include "scheduler/script/substitute.h"

namespace scheduler {
namespace {

db::Attempt next_attempt(const Config& config, const db::Database& database, int64_t item_id,
                         const std::optional<db::Attempt>& newest) {
  db::Attempt attempt;
  attempt.item_id = item_id;
  attempt.number =
      1 + std::max(newest ? newest->number : 0, highest_claimed(config.jobs(), item_id));
  attempt.token = "margay-" + database.instance() + "-" + std::to_string(item_id) + "-a" +
                  std::to_string(attempt.number);
  attempt.directory = attempt_folder(config.jobs(), item_id, attempt.number);
  if (newest) {
    const std::string checkpoint = newest->directory + "/" + kCheckpointFile;
    if (std::filesystem::exists(checkpoint)) attempt.resume_from = checkpoint;
  }
  return attempt;
}

}  // namespace

RenderedScript render_item(const Config& config, db::Database& database, int64_t item_id,
                           std::optional<Shape> shape) {
  const auto item = db::ItemStore(database).find(item_id);
  if (!item) throw NotFound("there is no item " + std::to_string(item_id));
  const db::AttemptStore attempts(database);
  const auto newest = attempts.newest_of_item(item_id);
  if (newest && !shape) {
    return {.text = attempts.script(newest->id),
            .attempt = newest->number,
            .token = newest->token,
            .submitted = true};
  }
  const db::Attempt attempt = next_attempt(config, database, item_id, newest);
  try {
    return {.text = render_job(config,
                               {.item = *item,
                                .attempt = attempt,
                                .shape = shape ? shape : shape_for(config.slurm, item->priority)})
                        .text,
            .attempt = attempt.number,
            .token = attempt.token};
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
