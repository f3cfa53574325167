#include "scheduler/daemon/widener.h"

#include <optional>

#include "db/attempts.h"
#include "db/items.h"
#include "scheduler/daemon/job_requests.h"
#include "scheduler/script/job_script.h"
#include "slurm/sbatch/directives.h"

namespace scheduler {

// A clause for the user; empty: nothing keeps the job from being stopped.
std::string Widener::why_not(int64_t item_id, const Width& width, const JobSnapshot& jobs) const {
  const auto item = db::ItemStore(context_.database).find(item_id);
  const auto attempt = db::AttemptStore(context_.database).newest_of_item(item_id);
  const slurm::JobStatus* job = attempt ? jobs.job_of(*attempt) : nullptr;
  if (!item || job == nullptr) return "it is not in the cluster's last list of jobs";
  if (!can_be_stopped(*job)) return "it is ending";
  JobShape shape = job_shape_of(context_.config.slurm, width);
  shape.priority = item->priority;
  try {
    directives_of(context_.config, shape, item->options);
  } catch (const slurm::DirectiveError& error) {
    return error.what();
  }
  return "";
}

void Widener::widen(const Widening& widening, const JobSnapshot& jobs) {
  const std::string why = why_not(widening.item_id, widening.width, jobs);
  if (why.empty()) {
    const auto attempt = db::AttemptStore(context_.database).newest_of_item(widening.item_id);
    begin_to_stop(context_, *attempt, *jobs.job_of(*attempt));
    return;
  }
  keep(widening.item_id, {.width = widening.width, .why = why});
}

void Widener::keep(int64_t item_id, const KeptJob& job) {
  KeptJob& kept = not_widened_[item_id];
  if (kept.why != job.why) {
    context_.log("item " + std::to_string(item_id) +
                 ": its job is not stopped for another one: " + job.why);
  }
  kept = job;
}

void Widener::look_again(const JobSnapshot& jobs) {
  for (const auto& [item_id, job] : NotWidened(not_widened_)) {
    const auto item = db::ItemStore(context_.database).find(item_id);
    const bool active = item && item->state == db::ItemState::kActive;
    const std::string why = active ? why_not(item_id, job.width, jobs) : "";
    if (why.empty()) {
      not_widened_.erase(item_id);
    } else {
      keep(item_id, {.width = job.width, .why = why});
    }
  }
}

}  // namespace scheduler
