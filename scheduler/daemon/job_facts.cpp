#include "scheduler/daemon/job_facts.h"

#include <tuple>

#include "slurm/job_states.h"

namespace scheduler {

// Job numbers grow, and a shorter number is smaller.
bool is_older(const slurm::JobStatus& a, const slurm::JobStatus& b) {
  return std::tuple(a.submit_time, a.job_id.size(), a.job_id) <
         std::tuple(b.submit_time, b.job_id.size(), b.job_id);
}

bool differs(const db::Attempt& a, const db::Attempt& b) {
  const auto facts = [](const db::Attempt& attempt) {
    return std::tie(attempt.state, attempt.message, attempt.host, attempt.exit_code,
                    attempt.started, attempt.cluster_words, attempt.cluster_reason,
                    attempt.restarts, attempt.release_due);
  };
  return facts(a) != facts(b);
}

void copy_facts(const slurm::JobStatus& job, db::Attempt& attempt) {
  if (job.restarts > attempt.restarts) {
    // Requeued: host, exit code and start are those of an earlier run.
    attempt.restarts = job.restarts;
    attempt.host.clear();
    attempt.exit_code.reset();
    attempt.started = 0;
  }
  attempt.cluster_words = job.words;
  attempt.cluster_reason = job.reason;
  if (!job.host.empty()) attempt.host = job.host;
  // For a job that waits, Slurm gives the start that it expects.
  if (job.start_time > 0 && job.state != slurm::JobState::kPending) {
    attempt.started = job.start_time;
  }
  if (!is_over(job.state)) return;
  if (job.exit_code) attempt.exit_code = job.exit_code;
  if (job.end_time > 0) attempt.ended = job.end_time;
}

std::optional<slurm::JobStatus> last_record(const db::Attempt& attempt,
                                            const std::vector<slurm::JobStatus>& records) {
  std::optional<slurm::JobStatus> last;
  for (const slurm::JobStatus& record : records) {
    if (record.job_id != attempt.job_id || record.name != attempt.token) continue;
    if (!is_over(record.state)) return std::nullopt;
    const bool newer = !last || std::tie(last->submit_time, last->end_time) <=
                                    std::tie(record.submit_time, record.end_time);
    if (newer) last = record;
  }
  return last;
}

}  // namespace scheduler
