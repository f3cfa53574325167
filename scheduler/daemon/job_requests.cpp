#include "scheduler/daemon/job_requests.h"

#include <chrono>

#include "db/attempts.h"
#include "scheduler/policy/transition.h"
#include "slurm/job_states.h"

namespace scheduler {
namespace {

// A checkpoint is written well within it.
constexpr std::chrono::seconds kPatience = std::chrono::minutes(5);

}  // namespace

void release_job(const Workplace& workplace, db::Attempt& attempt) {
  if (workplace.cluster.allowance() < 1) return;
  reach(workplace.crash, "before-release");
  const bool released = workplace.cluster.release(attempt.job_id);
  reach(workplace.crash, "after-release");
  if (!released) return;
  attempt.release_due = false;
  {
    db::Transaction transaction(workplace.database);
    db::AttemptStore(workplace.database).update(attempt);
    reach(workplace.crash, "before-release-commit");
    transaction.commit();
  }
  reach(workplace.crash, "after-release-commit");
}

bool ask_to_stop(const Workplace& workplace, const std::string& job_id) {
  if (workplace.cluster.allowance() < 1) return false;
  reach(workplace.crash, "before-cancel");
  workplace.cluster.cancel(job_id);
  reach(workplace.crash, "after-cancel");
  return true;
}

void ask_for_checkpoint(const Workplace& workplace, const db::Attempt& attempt,
                        const slurm::JobStatus& job) {
  if (workplace.cluster.allowance() < 1) return;
  const bool waits = job.state == slurm::JobState::kPending;
  const bool too_late = workplace.clock.now() - attempt.stop_asked >= kPatience.count();
  reach(workplace.crash, "before-stop");
  if (waits || too_late) {
    workplace.cluster.cancel(job.job_id);
  } else {
    workplace.cluster.signal_stop(job.job_id);
  }
  reach(workplace.crash, "after-stop");
}

void begin_to_stop(const Workplace& workplace, db::Attempt attempt, const slurm::JobStatus& job) {
  attempt.stop_asked = workplace.clock.now();
  {
    db::Transaction transaction(workplace.database);
    if (!db::AttemptStore(workplace.database).update(attempt)) return;
    reach(workplace.crash, "before-stop-commit");
    transaction.commit();
  }
  reach(workplace.crash, "after-stop-commit");
  workplace.log(attempt.token + ": is asked for a checkpoint and to stop, for a wider job");
  ask_for_checkpoint(workplace, attempt, job);
}

bool can_be_stopped(const slurm::JobStatus& job) {
  return !is_over(job.state) && job.state != slurm::JobState::kCompleting;
}

}  // namespace scheduler
