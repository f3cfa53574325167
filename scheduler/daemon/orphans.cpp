#include "scheduler/daemon/orphans.h"

#include <utility>

#include "db/attempts.h"
#include "scheduler/daemon/job_requests.h"
#include "scheduler/results/manifest_result.h"
#include "scheduler/states/transition.h"
#include "slurm/job_states.h"

namespace scheduler {

void Orphans::begin(const std::vector<db::Attempt>& open) {
  open_.clear();
  for (const db::Attempt& attempt : open) open_.emplace(attempt.token, attempt.job_id);
  occupying_ = 0;
  seen_.clear();
}

// A script ends shortly after its result is there: that job is left alone. One that the cluster
// started again, or that waits although its script was run by hand, is stopped, since it would do
// nothing.
bool Orphans::is_on_its_way_out(const slurm::JobStatus& job) const {
  if (job.state == slurm::JobState::kPending) return false;
  const auto attempt = db::AttemptStore(context_.database).find_by_token(job.name);
  if (!attempt || attempt->state != db::AttemptState::kDone) return false;
  if (!attempt->job_id.empty() && attempt->job_id != job.job_id) return false;
  return job.restarts <= attempt->restarts;
}

void Orphans::check(const slurm::JobStatus& job) {
  const auto owner = open_.find(job.name);
  if (owner != open_.end() && (owner->second.empty() || owner->second == job.job_id)) return;
  if (is_over(job.state)) {
    context_.cluster.forget(job.job_id);
    return;
  }
  if (owner == open_.end()) ++occupying_;
  if (is_on_its_way_out(job)) return;
  seen_.insert(job.job_id);
  if (known_.insert(job.job_id).second) {
    ++stopped_;
    context_.warn("job " + job.job_id + " (" + job.name + ") has no open attempt: stopped");
  }
  if (can_be_stopped(job)) ask_to_stop(context_, job.job_id);
}

void Orphans::finish() { known_ = std::exchange(seen_, {}); }

void Orphans::forget(const db::Attempt& attempt, const JobSnapshot& snapshot) const {
  const auto [first, last] = snapshot.jobs.equal_range(attempt.token);
  for (auto job = first; job != last; ++job) {
    if (!is_over(job->second.state)) return;
  }
  reach(context_.crash, "before-forget");
  const db::AttemptStore attempts(context_.database);
  if (attempt.state == db::AttemptState::kDone) {
    remove_leftovers(attempt.directory, context_.config.keep);
    for (const db::Attempt& earlier : attempts.of_item(attempt.item_id)) {
      if (earlier.number < attempt.number) {
        remove_leftovers(earlier.directory, ResultsKeep::kPeaks);
      }
    }
  }
  // The search of another file than the item's, if it came to that, is nobody's to read.
  if (attempt.cause == kBadInputCause) remove_all_but_records(attempt.directory);
  db::AttemptStore(context_.database).mark_forgotten(attempt.id);
  reach(context_.crash, "after-forget");
}

}  // namespace scheduler
