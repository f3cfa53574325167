#include "scheduler/states/transition.h"

#include <algorithm>
#include <csignal>
#include <set>
#include <utility>
#include <vector>

#include "slurm/job_states.h"

namespace scheduler {
namespace {

using db::AttemptState;
using db::ItemState;

// The engine's exit codes.
constexpr int kBadInput = 64;
constexpr int kDeviceMemory = 71;
constexpr const char* kVanished = "neither the queue nor accounting knows it any more";

Outcome cancelled(const std::string& message) {
  return {.attempt = AttemptState::kCancelled,
          .cause = "cancelled",
          .message = message,
          .item = ItemState::kCancelled,
          .reason = message};
}

// A stop on request counts as no failure, but an item that never gets any further must not repeat
// without end.
Outcome checkpointed(const Evidence& evidence, const Past& past) {
  if (evidence.no_progress) {
    return ended(AttemptState::kCheckpointed, "stopped_early", "", past);
  }
  if (!evidence.segment.empty()) {
    return {.attempt = AttemptState::kCheckpointed,
            .cause = "segment",
            .message = "its segment of " + evidence.segment + " has ended",
            .item = ItemState::kQueued,
            .reason = "its segment of " + evidence.segment +
                      " has ended, so that its GPUs are free for others; resumes from its "
                      "checkpoint"};
  }
  return {.attempt = AttemptState::kCheckpointed,
          .cause = "checkpointed",
          .message = "stopped with a checkpoint, before its time limit or on request",
          .item = ItemState::kQueued,
          .reason = "stopped before its time limit or on request; resumes from its checkpoint"};
}

// A stop for another shape counts as no failure.
Outcome widened(AttemptState state, const std::string& message, const std::string& then) {
  return {.attempt = state,
          .cause = "widened",
          .message = message,
          .item = ItemState::kQueued,
          .reason = message + "; " + then};
}

Outcome stopped_to_widen(const Evidence& evidence) {
  return widened(
      AttemptState::kCheckpointed, "stopped to resume with another job",
      evidence.no_progress ? "it had not got any further" : "resumes from its checkpoint");
}

std::string gpus_text(int count) {
  return count == 0 ? "no GPU" : std::to_string(count) + (count == 1 ? " GPU" : " GPUs");
}

// 128 + signal is how a shell reports a program that a signal ended.
std::optional<int> signal_of(const slurm::JobStatus& job) {
  // Slurm reports signal 125 for a job that used too much memory.
  if (job.signal && *job.signal <= 64) return job.signal;
  if (job.exit_code && *job.exit_code > 128 && *job.exit_code < 128 + 65) {
    return *job.exit_code - 128;
  }
  return std::nullopt;
}

std::string cause_of_signal(int signal) {
  const std::set<int> bugs = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
  return bugs.count(signal) != 0 ? "engine_bug" : "unknown";
}

std::string cause_of_exit(const slurm::JobStatus& job) {
  switch (job.exit_code.value_or(-1)) {
    case kBadInput:
      return kBadInputCause;
    case 70:
      return "hardware";
    case kDeviceMemory:
      return "device_memory";
    case 75:
      return "claimed";
    case 2:    // the script template and the engine do not fit each other
    case 126:  // the engine cannot be executed
    case 127:  // or is not there
      return "launch";
    default:
      break;
  }
  if (const auto signal = signal_of(job)) return cause_of_signal(*signal);
  return "unknown";
}

std::string reason_of(const slurm::JobStatus& job) {
  return job.reason == "None" ? "" : job.reason;
}

std::string describe_end(const slurm::JobStatus& job) {
  const bool out_of_memory = job.state == slurm::JobState::kOutOfMemory;
  if (out_of_memory && !reason_of(job).empty()) return reason_of(job);
  if (!out_of_memory && signal_of(job) == SIGKILL) {
    return "ended by signal 9; perhaps the kernel's out-of-memory killer: see dmesg";
  }
  if (const auto signal = signal_of(job)) return "ended by signal " + std::to_string(*signal);
  if (const std::string reason = reason_of(job); !reason.empty()) return reason;
  if (job.exit_code) return "ended with exit code " + std::to_string(*job.exit_code);
  return "ended";
}

std::string message_of(const Evidence& evidence) {
  // The last words of a program that a signal ended are not the cause.
  if (evidence.error.empty() || signal_of(*evidence.job)) return describe_end(*evidence.job);
  return evidence.error;
}

// For a step that used too much memory, Slurm reports only that it failed, and OverMemoryKill
// cancels the whole job. The engine's own codes for its input and its device say more.
bool ran_out_of_memory(const Evidence& evidence) {
  const int exit_code = evidence.job->exit_code.value_or(0);
  if (exit_code == kBadInput || exit_code == kDeviceMemory) return false;
  return !evidence.memory_error.empty() || says_out_of_memory(evidence.error) ||
         says_out_of_memory(evidence.job->reason);
}

Outcome out_of_memory(const Evidence& evidence, const Past& past) {
  const std::string& said = evidence.memory_error;
  return ended(AttemptState::kFailed, "memory", said.empty() ? message_of(evidence) : said, past);
}

// No try is spent, and the circuit breaker spaces the next ones.
Outcome hardware_of_the_site(const Evidence& evidence, const Past& past) {
  Outcome outcome = ended(AttemptState::kFailed, "hardware", message_of(evidence), past);
  outcome.item = ItemState::kQueued;
  outcome.wait = std::chrono::milliseconds{0};
  outcome.reason =
      "the device failed: " + outcome.message +
      "; will be retried; it does not count, since the device fails on other nodes, too";
  outcome.exempt = true;
  outcome.site_fault = SiteFault::kHardware;
  outcome.pause_reason = evidence.hardware_pause;
  return outcome;
}

Outcome bad_input(const Evidence& evidence, const Past& past) {
  if (!evidence.input_changed.empty()) {
    return ended(AttemptState::kFailed, kBadInputCause, evidence.input_changed, past);
  }
  if (evidence.checkpoint_refused) {
    return ended(AttemptState::kFailed, kCheckpointCause, message_of(evidence), past);
  }
  if (!evidence.away.empty()) {
    return ended(AttemptState::kFailed, "input_away", evidence.away, past);
  }
  return ended(AttemptState::kFailed, kBadInputCause, message_of(evidence), past);
}

// Whatever its end was, what it could not reach may be the reason.
Outcome ended_unseen(const Past& past) {
  return ended(AttemptState::kFailed, "jobs_away", "the folder of jobs was away when its job ended",
               past);
}

Outcome judge_failed(const db::Attempt& attempt, const Evidence& evidence, const Past& past) {
  const slurm::JobStatus& job = *evidence.job;
  if (job.exit_code == 85 && attempt.stop_asked != 0) return stopped_to_widen(evidence);
  if (job.exit_code == 85) return checkpointed(evidence, past);
  if (evidence.ended_unseen && evidence.input_changed.empty()) return ended_unseen(past);
  if (evidence.disk_full) {
    return paused(ended(AttemptState::kFailed, "disk_full", message_of(evidence), past),
                  SiteFault::kTransient, "the disk is full: ");
  }
  if (job.exit_code == 75 && evidence.claim_alive) {
    return {.attempt = AttemptState::kRunning,
            .message = "another run of the same script holds the claim: waiting for its result"};
  }
  if (ran_out_of_memory(evidence)) return out_of_memory(evidence, past);
  const std::string cause = cause_of_exit(job);
  if (cause == kBadInputCause) return bad_input(evidence, past);
  if (cause == "hardware" && !evidence.hardware_pause.empty()) {
    return hardware_of_the_site(evidence, past);
  }
  const Outcome outcome = ended(AttemptState::kFailed, cause, message_of(evidence), past);
  if (cause != "launch") return outcome;
  return paused(outcome, SiteFault::kLaunch, "the engine cannot be launched: ");
}

Outcome judge_completed(const Evidence& evidence, const Past& past) {
  if (evidence.files_may_come) {
    return {.attempt = AttemptState::kCompleting,
            .message = "its job has ended: waiting for its manifest to be seen"};
  }
  if (evidence.ended_unseen && evidence.manifest == ManifestWitness::kAbsent) {
    return ended_unseen(past);
  }
  const std::string why = evidence.manifest == ManifestWitness::kRefused
                              ? evidence.manifest_problem
                              : "the script ended with exit code 0 but left no manifest";
  return ended(AttemptState::kFailed, "unknown", why, past);
}

Outcome alive(AttemptState state) { return {.attempt = state}; }

// A job that was there and is neither SUBMITTING nor UNKNOWN any more keeps what it was.
AttemptState state_while_unknown(AttemptState state) {
  const bool unanswered = state == AttemptState::kSubmitting || state == AttemptState::kUnknown;
  return unanswered ? AttemptState::kPending : state;
}

// A node that cannot start a job, for one because it still remembers another one of that id from
// before a crash of the controller, has it cancelled, since it may not be requeued. The claim may
// be that of the job's run before the crash: then it has a node but no time, and no signal ended
// it.
bool could_not_be_started(const Evidence& evidence) {
  const slurm::JobStatus& job = *evidence.job;
  if (job.host.empty()) return false;
  const bool took_no_time =
      job.start_time > 0 && job.end_time >= job.start_time && job.end_time <= job.start_time + 1;
  return evidence.never_ran || (took_no_time && !job.signal && job.exit_code.value_or(0) == 0);
}

Outcome judge_cancelled(const db::Attempt& attempt, const Evidence& evidence, const Past& past) {
  const slurm::JobStatus& job = *evidence.job;
  if (attempt.stop_asked != 0 && job.exit_code == 85) return stopped_to_widen(evidence);
  if (attempt.stop_asked != 0) {
    return widened(AttemptState::kCancelled, "cancelled for another job",
                   "resumes from its last checkpoint, if it has one");
  }
  if (ran_out_of_memory(evidence)) return out_of_memory(evidence, past);
  if (could_not_be_started(evidence)) {
    return ended(AttemptState::kNeverStarted, "never_started",
                 "Slurm gave its job to " + job.host + " and ended it before the script began",
                 past);
  }
  return {.attempt = AttemptState::kCancelled,
          .cause = "cancelled_outside",
          .message = "its job was cancelled, and not by margay",
          .item = ItemState::kFailed,
          .reason = job.exit_code == 85
                        ? "its job was cancelled, and not by margay; its checkpoint is kept, and "
                          "`margay retry` resumes from it"
                        : "its job was cancelled, and not by margay; `margay retry` runs it again"};
}

Outcome judge_job(const db::Attempt& attempt, const Evidence& evidence, const Past& past) {
  const slurm::JobStatus& job = *evidence.job;
  switch (job.state) {
    case slurm::JobState::kPending:
      return alive(AttemptState::kPending);
    case slurm::JobState::kRunning:
      return alive(AttemptState::kRunning);
    case slurm::JobState::kCompleting:
      return alive(AttemptState::kCompleting);
    case slurm::JobState::kUnknownAlive:
      return alive(state_while_unknown(attempt.state));
    case slurm::JobState::kCompleted:
      return judge_completed(evidence, past);
    case slurm::JobState::kFailed:
      return judge_failed(attempt, evidence, past);
    case slurm::JobState::kTimeout:
      return ended(AttemptState::kFailed,
                   evidence.no_progress ? "timeout" : "timeout_with_progress", message_of(evidence),
                   past);
    case slurm::JobState::kOutOfMemory:
      return out_of_memory(evidence, past);
    case slurm::JobState::kNodeFail:
      return ended(AttemptState::kFailed, "node_failed", reason_of(job), past);
    case slurm::JobState::kPreempted:
      return ended(AttemptState::kFailed, "preempted", reason_of(job), past);
    case slurm::JobState::kCancelled:
      return judge_cancelled(attempt, evidence, past);
  }
  return alive(attempt.state);
}

// The job is being ended: what its signals make of its end says nothing.
Outcome judge_stalled(const db::Attempt& attempt, const Evidence& evidence, const Past& past) {
  const bool over = evidence.vanished || (evidence.job && is_over(evidence.job->state));
  if (over) return ended(AttemptState::kFailed, kStalled, attempt.message, past);
  Outcome outcome = evidence.job ? judge_job(attempt, evidence, past) : alive(attempt.state);
  outcome.message = attempt.message;
  return outcome;
}

// A slurmrestd that does not know a field ignores it, and the job gets no GPU.
bool lacks_gpus(const db::Attempt& attempt, const slurm::JobStatus& job) {
  return job.gpus && *job.gpus < attempt.gpus;
}

Outcome judge_without_gpus(const db::Attempt& attempt, const Evidence& evidence, const Past& past) {
  const std::string message = "the job was to have " + gpus_text(attempt.gpus) + " and got " +
                              gpus_text(*evidence.job->gpus);
  return paused(ended(AttemptState::kFailed, "configuration", message, past),
                SiteFault::kConfiguration, "Slurm took a job without its GPUs: ",
                "; check 'slurm.api_version' and the GPU lines of the script template");
}

Outcome judge_accepted(const Evidence& evidence, const Past& past) {
  if (!evidence.input_changed.empty()) {
    return ended(AttemptState::kFailed, kBadInputCause, evidence.input_changed, past);
  }
  Outcome outcome{.attempt = AttemptState::kDone, .item = ItemState::kDone};
  if (evidence.cancel_requested) outcome.reason = "finished before it could be cancelled";
  return outcome;
}

}  // namespace

Outcome judge(const db::Attempt& attempt, const Evidence& evidence, const Failures& failures,
              const RetryRules& rules) {
  const Past past{failures, rules};
  if (evidence.manifest == ManifestWitness::kAccepted) return judge_accepted(evidence, past);
  const bool job_over = evidence.job && is_over(evidence.job->state);
  if (evidence.cancel_requested && (job_over || evidence.vanished)) {
    return cancelled("cancelled on request");
  }
  if (evidence.job && lacks_gpus(attempt, *evidence.job)) {
    return judge_without_gpus(attempt, evidence, past);
  }
  const bool completed = evidence.job && evidence.job->state == slurm::JobState::kCompleted;
  if (attempt.cause == kStalled && !completed) return judge_stalled(attempt, evidence, past);
  if (evidence.job) return judge_job(attempt, evidence, past);
  if (evidence.vanished) return ended(AttemptState::kLost, "vanished", kVanished, past);
  return alive(attempt.state);
}

Outcome judge_never_started(const Failures& failures, const RetryRules& rules) {
  return ended(AttemptState::kNeverStarted, "never_started", "", {failures, rules});
}

bool says_out_of_memory(const std::string& line) {
  static const std::vector<std::string> words = {"exceeded memory limit",
                                                 "exceeded job memory limit",
                                                 "exceeded step memory limit",
                                                 "exceeded virtual",
                                                 "oom-kill",
                                                 "oom_kill",
                                                 "Out Of Memory",
                                                 "cgroup out-of-memory",
                                                 "OutOfMemory"};
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return line.find(word) != std::string::npos; });
}

}  // namespace scheduler
