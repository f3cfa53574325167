#include "scheduler/daemon/job_requests.h"

#include <chrono>

#include "db/attempts.h"
#include "scheduler/states/transition.h"
#include "slurm/job_states.h"

namespace scheduler {
namespace {

// A checkpoint takes a fraction of it.
constexpr std::chrono::seconds kCheckpointTimeout = std::chrono::minutes(5);

}  // namespace

void release_job(const DaemonContext& context, db::Attempt& attempt) {
  if (context.cluster.allowance() < 1) return;
  reach(context.crash, "before-release");
  const bool released = context.cluster.release(attempt.job_id);
  reach(context.crash, "after-release");
  if (!released) return;
  attempt.release_due = false;
  {
    db::Transaction transaction(context.database);
    db::AttemptStore(context.database).update(attempt);
    reach(context.crash, "before-release-commit");
    transaction.commit();
  }
  reach(context.crash, "after-release-commit");
}

bool ask_to_stop(const DaemonContext& context, const std::string& job_id) {
  if (context.cluster.allowance() < 1) return false;
  reach(context.crash, "before-cancel");
  context.cluster.cancel(job_id);
  reach(context.crash, "after-cancel");
  return true;
}

void ask_for_checkpoint(const DaemonContext& context, const db::Attempt& attempt,
                        const slurm::JobStatus& job) {
  if (context.cluster.allowance() < 1) return;
  const bool waits = job.state == slurm::JobState::kPending;
  const bool too_late = context.clock.now() - attempt.stop_asked >= kCheckpointTimeout.count();
  reach(context.crash, "before-stop");
  if (waits || too_late) {
    context.cluster.cancel(job.job_id);
  } else {
    context.cluster.signal_stop(job.job_id);
  }
  reach(context.crash, "after-stop");
}

void begin_to_stop(const DaemonContext& context, db::Attempt attempt, const slurm::JobStatus& job) {
  attempt.stop_asked = context.clock.now();
  {
    db::Transaction transaction(context.database);
    if (!db::AttemptStore(context.database).update(attempt)) return;
    reach(context.crash, "before-stop-commit");
    transaction.commit();
  }
  reach(context.crash, "after-stop-commit");
  context.log(attempt.token + ": stopping with a checkpoint, for another job");
  ask_for_checkpoint(context, attempt, job);
}

void begin_to_end_stalled(const DaemonContext& context, db::Attempt attempt,
                          const slurm::JobStatus& job, const std::string& why) {
  attempt.cause = kStalled;
  attempt.message = why;
  {
    db::Transaction transaction(context.database);
    if (!db::AttemptStore(context.database).update(attempt)) return;
    reach(context.crash, "before-stall-commit");
    transaction.commit();
  }
  reach(context.crash, "after-stall-commit");
  context.warn(attempt.token + ": ending its job, since its search stalled: " + why);
  ask_to_stop(context, job.job_id);
}

bool can_be_stopped(const slurm::JobStatus& job) {
  return !is_over(job.state) && job.state != slurm::JobState::kCompleting;
}

}  // namespace scheduler
