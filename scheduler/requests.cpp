#include "scheduler/requests.h"

#include "db/attempts.h"
#include "scheduler/transition.h"
#include "slurm/job_states.h"

namespace scheduler {

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

bool can_be_stopped(const slurm::JobStatus& job) {
  return !is_over(job.state) && job.state != slurm::JobState::kCompleting;
}

}  // namespace scheduler
