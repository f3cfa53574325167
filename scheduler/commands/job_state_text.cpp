#include "scheduler/commands/job_state_text.h"

#include <iomanip>
#include <sstream>

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

std::string explain_open(const db::Attempt& attempt) {
  const std::string waits = why_it_waits(attempt);
  if (!waits.empty()) return waits;
  const std::string shape = attempt.shape.empty() ? "" : " with " + attempt.shape;
  const std::string host = attempt.host.empty() ? "" : " on " + attempt.host;
  const std::string decided =
      attempt.explanation.empty() ? "" : "; decided at its start: " + attempt.explanation;
  switch (attempt.state) {
    case db::AttemptState::kSubmitting:
    case db::AttemptState::kUnknown:
      return "its job was submitted" + shape + ", and the cluster has not answered yet" + decided;
    case db::AttemptState::kPending:
      return "its job waits to start" + shape + decided;
    case db::AttemptState::kCompleting:
      return "its job is ending" + host + decided;
    case db::AttemptState::kRunning:
      if (!attempt.message.empty()) return "runs" + shape + host + "; " + attempt.message + decided;
      return "runs" + shape + host + decided;
    case db::AttemptState::kRejected:
    case db::AttemptState::kDone:
    case db::AttemptState::kCheckpointed:
    case db::AttemptState::kFailed:
    case db::AttemptState::kLost:
    case db::AttemptState::kCancelled:
    case db::AttemptState::kNeverStarted:
      return attempt.explanation;
  }
  return "";
}

std::string explain_done(const db::Result& result, const db::Attempt& attempt) {
  std::ostringstream text;
  text << "found " << result.peaks << (result.peaks == 1 ? " peak" : " peaks") << std::fixed
       << std::setprecision(2) << " above z = " << result.cutoff << ", best " << result.best_z
       << "; attempt " << attempt.number;
  if (!attempt.shape.empty()) text << ", with " << attempt.shape;
  if (!attempt.host.empty()) text << ", on " << attempt.host;
  return text.str();
}

}  // namespace scheduler
