#include "scheduler/commands/job_state_text.h"

#include "slurm/job_states.h"

namespace scheduler {
namespace {

bool has_reason(const db::Attempt& attempt) {
  return !attempt.cluster_reason.empty() && attempt.cluster_reason != "None";
}

}  // namespace

std::string meaning_of_reason(const db::Attempt& attempt) {
  if (!has_reason(attempt)) return "";
  if (attempt.release_due && attempt.cluster_reason.starts_with("JobHeldUser")) {
    return "submitted held by Margay, which releases it as soon as its number is stored";
  }
  return slurm::meaning_of_reason(attempt.cluster_reason);
}

std::string why_it_waits(const db::Attempt& attempt) {
  if (attempt.state != db::AttemptState::kPending || attempt.cluster_words.empty()) return "";
  const std::string job = "job " + attempt.job_id;
  if (!has_reason(attempt)) {
    return job + " waits in the cluster (" + attempt.cluster_words + ")";
  }
  std::string text = meaning_of_reason(attempt) + " (" + job + ": " + attempt.cluster_words + ", " +
                     attempt.cluster_reason + ")";
  if (slurm::needs_somebody(attempt.cluster_reason) && !attempt.release_due) {
    text += "; it will not start by itself";
  }
  return text;
}

}  // namespace scheduler
