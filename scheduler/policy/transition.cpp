#include "scheduler/policy/transition.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "slurm/job_states.h"

namespace scheduler {
namespace {

using db::AttemptState;
using db::ItemState;
using std::chrono::milliseconds;

constexpr int kUnlimited = -1;
// The engine's exit codes.
constexpr int kBadInput = 64;
constexpr int kDeviceMemory = 71;
constexpr const char* kVanished = "neither the queue nor accounting knows it any more";

// What the outcome of a failed attempt depends on besides the attempt itself.
struct Past {
  const Failures& failures;
  const RetryRules& rules;
};

// By cause: how many further tries, whether they are spaced, and what an item without any becomes.
struct CauseRule {
  const char* cause;
  int retries;
  bool spaced;
  bool free_first;  // the first retry does not wait
  ItemState exhausted;
  const char* says;
  const char* gives_up = nullptr;  // added when no try is left
};

constexpr const char* kTooShort = "the time limit is too short for any progress";

constexpr CauseRule kRules[] = {
    {"preempted", kUnlimited, true, true, ItemState::kFailed, "preempted"},
    {"node_failed", kUnlimited, true, true, ItemState::kFailed, "its machine failed or restarted"},
    {"vanished", kUnlimited, true, true, ItemState::kFailed, "its job vanished from the cluster"},
    {"never_started", kUnlimited, true, true, ItemState::kFailed, "its job was never started"},
    {"disk_full", kUnlimited, true, false, ItemState::kFailed, "the disk is full"},
    {"hardware", 3, true, true, ItemState::kFailed, "the device failed"},
    {"timeout", 2, false, false, ItemState::kFailed, "it ran into its time limit", kTooShort},
    {"timeout_with_progress", kUnlimited, false, false, ItemState::kFailed,
     "it ran into its time limit"},
    {"device_memory", 2, false, false, ItemState::kFailed, "the device's memory was too small"},
    {"memory", 2, false, false, ItemState::kFailed, "it used more memory than its job asked for"},
    {"launch", 5, true, false, ItemState::kFailed, "it could not be launched"},
    {"claimed", 5, true, false, ItemState::kFailed, "another run of its script held the claim"},
    {"input_away", kUnlimited, true, false, ItemState::kFailed, "its input cannot be reached"},
    {"bad_input", 0, false, false, ItemState::kQuarantined, "bad input"},
    {"engine_bug", 0, false, false, ItemState::kQuarantined, "the engine crashed"},
    {"unknown", 1, true, false, ItemState::kFailed, "it failed for an unknown reason"},
    {"stopped_early", 3, true, true, ItemState::kFailed, "it was stopped before it got any further",
     kTooShort},
    {"busy", kUnlimited, false, false, ItemState::kFailed, "the cluster takes no more jobs now"},
    {"own_limit", kUnlimited, true, false, ItemState::kFailed,
     "the cluster does not take what its own options ask for now"},
    {"configuration", kUnlimited, false, false, ItemState::kFailed,
     "the cluster does not take the site's jobs"},
    {"raise_refused", kUnlimited, false, false, ItemState::kFailed,
     "the cluster does not give it more time or memory than before"},
    {"options", 0, false, false, ItemState::kFailed,
     "the cluster cannot give it what its options ask for"},
};

const CauseRule& rule_of(const std::string& cause) {
  for (const CauseRule& rule : kRules) {
    if (cause == rule.cause) return rule;
  }
  return rule_of("unknown");
}

milliseconds spacing(const CauseRule& rule, int earlier, const RetryRules& rules) {
  if (!rule.spaced) return milliseconds{0};
  int doublings = earlier;
  if (rule.free_first) {
    if (earlier == 0) return milliseconds{0};
    --doublings;
  }
  milliseconds wait = rules.first;
  for (; doublings > 0 && wait < rules.longest; --doublings) wait *= 2;
  return std::min(wait, rules.longest);
}

std::string tries_left(const CauseRule& rule, int earlier) {
  if (rule.retries == kUnlimited) return "will be retried";
  return "will be retried (" + std::to_string(earlier + 1) + " of " + std::to_string(rule.retries) +
         ")";
}

Outcome ended(AttemptState state, const std::string& cause, const std::string& message,
              const Past& past) {
  const CauseRule& rule = rule_of(cause);
  const auto known = past.failures.find(cause);
  const int earlier = known == past.failures.end() ? 0 : known->second;
  Outcome outcome{.attempt = state, .cause = cause, .message = message};
  const std::string says = message.empty() ? rule.says : rule.says + (": " + message);
  if (rule.retries == kUnlimited || earlier < rule.retries) {
    outcome.item = ItemState::kQueued;
    outcome.reason = says + "; " + tries_left(rule, earlier);
    outcome.wait = spacing(rule, earlier, past.rules);
  } else {
    outcome.item = rule.exhausted;
    outcome.reason = says;
    if (earlier > 0) outcome.reason += " (" + std::to_string(earlier + 1) + " times)";
    if (rule.gives_up != nullptr) outcome.reason += std::string("; ") + rule.gives_up;
  }
  return outcome;
}

// The same for a fault of the site: all submissions pause, and `why` and the message say why.
Outcome paused(Outcome outcome, SiteFault fault, const std::string& why,
               const std::string& advice = "") {
  outcome.site_fault = fault;
  outcome.pause_reason = why + outcome.message + advice;
  return outcome;
}

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
  return {.attempt = AttemptState::kCheckpointed,
          .cause = "checkpointed",
          .message = "stopped on request with a checkpoint",
          .item = ItemState::kQueued,
          .reason = "stopped on request; resumes from its checkpoint"};
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
      AttemptState::kCheckpointed, "stopped to resume with more devices",
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
      return "bad_input";
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
  outcome.wait = milliseconds{0};
  outcome.reason =
      "the device failed: " + outcome.message +
      "; will be retried; it does not count, since the device fails on other nodes, too";
  outcome.exempt = true;
  outcome.site_fault = SiteFault::kHardware;
  outcome.pause_reason = evidence.hardware_pause;
  return outcome;
}

Outcome judge_failed(const db::Attempt& attempt, const Evidence& evidence, const Past& past) {
  const slurm::JobStatus& job = *evidence.job;
  if (job.exit_code == 85 && attempt.stop_asked != 0) return stopped_to_widen(evidence);
  if (job.exit_code == 85) return checkpointed(evidence, past);
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
  if (cause == "bad_input" && !evidence.away.empty()) {
    return ended(AttemptState::kFailed, "input_away", evidence.away, past);
  }
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
    return widened(AttemptState::kCancelled, "cancelled for a job with more devices",
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

// Slurm's refusals name what is wrong by these words, mostly the option's name.
bool is_about(const std::string& message, const std::string& option) {
  const std::string text = base::lower(message);
  static const std::map<std::string, const char*> words = {{"constraint", "feature"},
                                                           {"licenses", "license"}};
  const auto word = words.find(option);
  return text.find(word == words.end() ? option : word->second) != std::string::npos;
}

bool own_option_is_wrong(const slurm::SubmitResult& answer,
                         const std::map<std::string, std::string>& own_options) {
  if (answer.refusal == slurm::Refusal::kJob) {
    return own_options.size() > own_options.count("job-name");  // a label that Margay sets
  }
  // Submissions must not pause for one user's misspelt partition.
  return std::any_of(own_options.begin(), own_options.end(),
                     [&](const auto& option) { return is_about(answer.message, option.first); });
}

Outcome judge_own_option(const slurm::SubmitResult& answer, const Past& past) {
  Outcome outcome = ended(AttemptState::kRejected, "options", answer.message, past);
  outcome.reason += "; use `margay retry` with other options";
  return outcome;
}

Outcome lane_refused(Outcome outcome, const Asked& asked, const std::string& advice = "") {
  return paused(std::move(outcome), SiteFault::kLane,
                "the cluster takes no job of its kind (" + asked.lane + ") now: ", advice);
}

Outcome judge_configuration(const slurm::SubmitResult& answer, const Asked& asked,
                            const Past& past) {
  if (own_option_is_wrong(answer, asked.own_options)) return judge_own_option(answer, past);
  const Outcome outcome = ended(AttemptState::kRejected, "configuration", answer.message, past);
  if (asked.own_shape) {
    return lane_refused(outcome, asked, "; correct 'slurm.urgent_shape' or what it asks for");
  }
  return paused(outcome, SiteFault::kConfiguration, "the cluster refuses the site's jobs: ",
                "; correct the configuration or the script template");
}

// A partition that is drained, or a reservation that is not usable, keeps nobody waiting but the
// item that asked for it.
bool own_place_is_closed(const slurm::SubmitResult& answer,
                         const std::map<std::string, std::string>& own_options) {
  const auto asked_for = [&](const char* option) {
    return own_options.count(option) > 0 && is_about(answer.message, option);
  };
  return asked_for("partition") || asked_for("reservation");
}

// Slurm's one sentence for the limits of accounts and QOS covers the size of a job and the number
// of jobs alike.
bool is_policy(const slurm::SubmitResult& answer) {
  return answer.message.find("accounting/QOS policy") != std::string::npos;
}

bool may_be_about_size(const slurm::SubmitResult& answer) {
  return answer.refusal == slurm::Refusal::kJob || is_policy(answer);
}

bool is_about_lane(const slurm::SubmitResult& answer) {
  return is_policy(answer) || answer.message.find("usage threshold") != std::string::npos;
}

bool asks_for_own_size(const std::map<std::string, std::string>& own_options) {
  static const std::set<std::string> sizes = {
      "time",          "nodes", "ntasks",        "ntasks-per-node",
      "cpus-per-task", "mem",   "mem-per-cpu",   "mem-per-gpu",
      "gres",          "gpus",  "gpus-per-node", "gpus-per-task",
      "exclusive"};
  return std::any_of(own_options.begin(), own_options.end(),
                     [](const auto& option) { return sizes.count(option.first) != 0; });
}

Outcome judge_busy(const slurm::SubmitResult& answer, const Asked& asked, const Past& past) {
  if (own_place_is_closed(answer, asked.own_options)) return judge_own_option(answer, past);
  const Outcome busy = ended(AttemptState::kRejected, "busy", answer.message, past);
  if (!asked.lane.empty() && is_about_lane(answer)) return lane_refused(busy, asked);
  if (is_policy(answer) && asks_for_own_size(asked.own_options)) {
    return ended(AttemptState::kRejected, "own_limit", answer.message, past);
  }
  return paused(busy, SiteFault::kTransient, "the cluster takes no more jobs now: ");
}

// 1.5 for each of these failures, up to a limit, unless the cluster has refused more.
double raised_after(const Failures& failures, const std::vector<const char*>& causes) {
  constexpr int kMost = 4;
  if (failures.count("raise_refused") != 0) return 1;
  int times = 0;
  for (const char* cause : causes) {
    const auto found = failures.find(cause);
    if (found != failures.end()) times += found->second;
  }
  return std::pow(1.5, std::min(times, kMost));
}

Outcome judge_accepted(const Evidence& evidence, const Past& past) {
  if (!evidence.micrograph_changed.empty()) {
    return ended(AttemptState::kFailed, "bad_input", evidence.micrograph_changed, past);
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
  if (evidence.job) return judge_job(attempt, evidence, past);
  if (evidence.vanished) return ended(AttemptState::kLost, "vanished", kVanished, past);
  return alive(attempt.state);
}

Outcome judge_never_started(const Failures& failures, const RetryRules& rules) {
  return ended(AttemptState::kNeverStarted, "never_started", "", {failures, rules});
}

Outcome judge_rejected(const slurm::SubmitResult& answer, const Asked& asked,
                       const Failures& failures, const RetryRules& rules) {
  const Past past{failures, rules};
  if (asked.raised && may_be_about_size(answer)) {
    return ended(AttemptState::kRejected, "raise_refused", answer.message, past);
  }
  switch (answer.refusal) {
    case slurm::Refusal::kNone:
      return paused(ended(AttemptState::kRejected, "launch", answer.message, past),
                    SiteFault::kLaunch, "the cluster refused a job: ");
    case slurm::Refusal::kBusy:
      return judge_busy(answer, asked, past);
    case slurm::Refusal::kJob:
    case slurm::Refusal::kConfiguration:
      return judge_configuration(answer, asked, past);
  }
  return {};
}

double time_factor(const Failures& failures) {
  return raised_after(failures, {"timeout", "timeout_with_progress", "stopped_early"});
}

double memory_factor(const Failures& failures) { return raised_after(failures, {"memory"}); }

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
