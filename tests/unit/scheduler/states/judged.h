// What becomes of an attempt that runs, by the evidence of a test.
#pragma once

#include <chrono>
#include <optional>

#include "db/attempts.h"
#include "scheduler/states/causes.h"
#include "scheduler/states/transition.h"

namespace scheduler {

inline const RetryRules kRules{.first = std::chrono::minutes(1),
                               .longest = std::chrono::minutes(60)};

inline db::Attempt running_attempt() {
  return {.number = 1, .state = db::AttemptState::kRunning, .job_id = "7"};
}

inline Evidence with_job(slurm::JobState state, std::optional<int> exit_code = std::nullopt) {
  Evidence evidence;
  evidence.job = slurm::JobStatus{};
  evidence.job->state = state;
  evidence.job->exit_code = exit_code;
  return evidence;
}

inline Outcome judged(const Evidence& evidence, const Failures& failures = {}) {
  return judge(running_attempt(), evidence, failures, kRules);
}

inline Outcome failed(int exit_code, const Failures& failures = {}) {
  return judged(with_job(slurm::JobState::kFailed, exit_code), failures);
}

}  // namespace scheduler
