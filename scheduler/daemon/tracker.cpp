#include "scheduler/daemon/tracker.h"

#include <algorithm>
#include <filesystem>

#include "db/attempts.h"
#include "db/items.h"
#include "db/queue.h"
#include "db/templates.h"
#include "scheduler/commands/plan_attempt.h"
#include "scheduler/commands/read_snapshot.h"
#include "scheduler/daemon/evidence.h"
#include "scheduler/daemon/job_facts.h"
#include "scheduler/daemon/job_requests.h"
#include "scheduler/files/attempt_folder.h"
#include "scheduler/files/jobs_owner.h"
#include "scheduler/results/manifest_result.h"
#include "slurm/job_states.h"

namespace scheduler {
namespace {

using db::AttemptState;

// Folders that are looked into at each snapshot although the cluster reports nothing new.
constexpr int kLooks = 200;

// How the job script reports a device that failed.
constexpr int kDeviceFailed = 70;

// A suspended job computes nothing, and one that is being configured does not yet.
bool is_computing(const slurm::JobStatus& job) {
  if (job.state != slurm::JobState::kRunning) return false;
  for (const char* word : {"SUSPENDED", "STOPPED", "CONFIGURING"}) {
    if (job.words.find(word) != std::string::npos) return false;
  }
  return true;
}

// False while the jobs folder is not mounted here, which says nothing about the job.
bool is_folder_seen(const db::Attempt& attempt) {
  const std::filesystem::path folder = attempt.directory;
  return std::filesystem::exists(folder / kScriptFile) ||
         std::filesystem::exists(folder / kClaimFolder);
}

bool is_unanswered(const db::Attempt& attempt) {
  return attempt.state == AttemptState::kSubmitting || attempt.state == AttemptState::kUnknown;
}

}  // namespace

Tracker::Tracker(const DaemonContext& context, CircuitBreaker& breaker, HardwareFaults& hardware)
    : context_(context),
      breaker_(breaker),
      hardware_(hardware),
      rules_(retry_rules(context.config)),
      stalls_(context.config.intervals.stall) {}

void Tracker::begin(const JobSnapshot& snapshot) {
  snapshot_ = &snapshot;
  moved_ = false;
  ended_items_.clear();
  changes_.clear();
  looks_left_ = kLooks;
  looked_for_folder_ = false;
  away_.clear();
  const auto ids = db::QueueStore(context_.database).to_cancel();
  to_cancel_ = std::set<int64_t>(ids.begin(), ids.end());
  asked_.clear();
}

void Tracker::finish() {
  if (looks_left_ > 0) looked_to_ = 0;
  store_open(context_, changes_);
  changes_.clear();
}

void Tracker::stop_cancelled(const JobSnapshot& snapshot) {
  for (const int64_t id : db::QueueStore(context_.database).to_cancel()) {
    if (to_cancel_.count(id) != 0 || asked_.count(id) != 0) continue;
    const auto attempt = db::AttemptStore(context_.database).newest_of_item(id);
    const slurm::JobStatus* job = attempt ? snapshot.job_of(*attempt) : nullptr;
    if (job == nullptr || !can_be_stopped(*job)) continue;
    if (ask_to_stop(context_, job->job_id)) asked_.insert(id);
  }
}

// The attempts take turns, kLooks of them at each snapshot.
bool Tracker::take_turn(const db::Attempt& attempt) {
  if (looks_left_ == 0 || attempt.id <= looked_to_) return false;
  --looks_left_;
  looked_to_ = attempt.id;
  return true;
}

bool Tracker::end_stalled(const db::Attempt& attempt, const slurm::JobStatus& job) {
  const bool asked = attempt.stop_asked != 0 || attempt.cause == kStalled;
  if (asked || !is_computing(job)) {
    stalls_.forget(attempt.id);
    return false;
  }
  const auto progress = progress_seen(attempt.directory);
  if (!progress && !is_folder_seen(attempt)) {
    stalls_.forget(attempt.id);
    return false;
  }
  const std::string why = stalls_.look(attempt.id, progress, context_.clock.boot_ms());
  if (why.empty()) return false;
  stalls_.forget(attempt.id);
  // A site's script need not ask the engine for reports.
  const std::string script = db::AttemptStore(context_.database).script(attempt.id);
  if (!progress && script.find(kProgressFile) == std::string::npos) return false;
  begin_to_end_stalled(context_, attempt, job, why);
  return true;
}

std::chrono::milliseconds Tracker::limit_of(const db::Attempt& attempt) const {
  const Intervals& intervals = context_.config.intervals;
  return attempt.state == AttemptState::kPending ? intervals.vanish_pending
                                                 : intervals.vanish_running;
}

// True when an attempt without a live job is to be examined now.
bool Tracker::is_news(const db::Attempt& attempt, const slurm::JobStatus* job) {
  if (job != nullptr) return true;
  if (!snapshot_->complete) {
    absences_.erase(attempt.id);
    return false;
  }
  const int64_t now_ms = context_.clock.boot_ms();
  const auto [absence, first] = absences_.try_emplace(attempt.id, Absence{now_ms, now_ms});
  const bool due = now_ms >= absence->second.ask_ms ||
                   now_ms - absence->second.since_ms >= limit_of(attempt).count();
  return first || (due && context_.cluster.allowance() > kKeptByLookups);
}

void Tracker::track(const db::Attempt& attempt) {
  const bool turn = take_turn(attempt);
  const bool look = turn && has_manifest(attempt);
  if (is_unanswered(attempt)) {
    if (look || has_manifest(attempt)) {
      examine(attempt, nullptr);
    } else {
      resolve(attempt);
    }
    return;
  }
  const slurm::JobStatus* job = snapshot_->job_of(attempt);
  if (job != nullptr) absences_.erase(attempt.id);
  if (job != nullptr && !is_over(job->state) && !look) {
    over_since_.erase(attempt.id);
    const Outcome outcome = judge(attempt, {.job = *job}, {}, rules_);
    if (!outcome.item) {
      if (!turn || !end_stalled(attempt, *job)) keep(attempt, *job, outcome);
      return;
    }
  }
  if (is_news(attempt, job) || look) examine(attempt, job);
}

void Tracker::keep(const db::Attempt& attempt, const slurm::JobStatus& job,
                   const Outcome& outcome) {
  db::Attempt changed = attempt;
  copy_facts(job, changed);
  changed.state = outcome.attempt;
  changed.message = outcome.message;
  // The attempt is not over whatever the end time: another run of its script holds the claim.
  changed.ended = attempt.ended;
  const bool to_end = to_cancel_.count(attempt.item_id) != 0 || attempt.cause == kStalled;
  if (to_end && can_be_stopped(job)) {
    ask_to_stop(context_, job.job_id);
  } else if (changed.stop_asked != 0 && can_be_stopped(job)) {
    ask_for_checkpoint(context_, changed, job);
  } else if (changed.release_due && job.held) {
    release_job(context_, changed);
  } else if (changed.release_due && job.state != slurm::JobState::kUnknownAlive) {
    // It was released before a crash. (A job in an unknown state may still be held.)
    changed.release_due = false;
  }
  breaker_.observe(changed.token, changed.state, true, "");
  give_up_probe(changed);
  if (changed.state == AttemptState::kRunning) hardware_.note(changed);
  if (differs(attempt, changed)) changes_.push_back({changed, attempt.state != changed.state});
}

// While the probe cannot start, nothing else is submitted. A cause of its own says nothing about
// the others.
void Tracker::give_up_probe(const db::Attempt& attempt) {
  if (!breaker_.is_probe(attempt.token)) return;
  const auto item = db::ItemStore(context_.database).find(attempt.item_id).value();
  const db::OpenAttempt open{.item_id = attempt.item_id,
                             .state = attempt.state,
                             .stop_asked = attempt.stop_asked != 0,
                             .release_due = attempt.release_due,
                             .cluster_reason = attempt.cluster_reason};
  if (!is_stuck(open, asks_for_more_than_mail(item.options))) return;
  breaker_.give_up(attempt.token);
  context_.warn(attempt.token + ": cannot start (" + attempt.cluster_reason +
                "); another job tries whether jobs run again");
}

void Tracker::forget(int64_t attempt_id) {
  stalls_.forget(attempt_id);
  absences_.erase(attempt_id);
  looked_up_.erase(attempt_id);
  unanswered_since_.erase(attempt_id);
  heartbeats_.forget(attempt_id);
  over_since_.erase(attempt_id);
  ended_unseen_.erase(attempt_id);
}

bool Tracker::is_folder_away() {
  if (!looked_for_folder_) {
    away_ = why_not_ours(context_.config.jobs(), context_.database.instance());
  }
  looked_for_folder_ = true;
  return !away_.empty();
}

void Tracker::adopt(db::Attempt attempt, const slurm::JobStatus& job) {
  attempt.job_id = job.job_id;
  if (attempt.submitted == 0) {
    attempt.submitted = job.submit_time > 0 ? job.submit_time : context_.clock.now();
  }
  store_outcome(context_, attempt, {.attempt = AttemptState::kPending},
                {"before-adopt-commit", "after-adopt-commit"});
  forget(attempt.id);
  moved_ = true;
}

// Empty when no request is left, or without an answer.
std::optional<std::vector<slurm::JobStatus>> Tracker::named(const db::Attempt& attempt) const {
  if (context_.cluster.allowance() <= kKeptByLookups) return std::nullopt;
  return context_.cluster.find_by_name(attempt.token);
}

// True after the time in which a submission without an answer would have arrived. Its age is taken
// from the wall clock only once, since that may be set.
bool Tracker::is_late(const db::Attempt& attempt) {
  const int64_t grace_ms = context_.config.resolve_grace().count();
  const int64_t age_ms =
      context_.clock.now_ms() - std::max(attempt.created, attempt.submitted) * 1000;
  const int64_t now_ms = context_.clock.boot_ms();
  const auto [since, first] =
      unanswered_since_.try_emplace(attempt.id, now_ms - std::clamp(age_ms, int64_t{0}, grace_ms));
  return now_ms - since->second >= grace_ms;
}

// Nothing is submitted twice on a guess: only two complete answers without the name, after the time
// in which a late submission would have arrived, prove that there is no job.
void Tracker::resolve(const db::Attempt& attempt) {
  const auto [first, last] = snapshot_->jobs.equal_range(attempt.token);
  std::vector<slurm::JobStatus> found;
  for (auto job = first; job != last; ++job) found.push_back(job->second);
  const bool late = is_late(attempt);
  if (found.empty() && snapshot_->complete && late) {
    const auto answer = named(attempt);
    if (!answer) return;
    found = *answer;
  }
  if (!found.empty()) {
    // Any other job of that name is an orphan and is stopped as one.
    adopt(attempt, *std::min_element(found.begin(), found.end(), is_older));
    return;
  }
  if (snapshot_->complete && late && ++looked_up_[attempt.id] >= 2) give_up(attempt);
}

bool Tracker::is_claim_alive(const db::Attempt& attempt) {
  const int64_t silent_ms =
      heartbeats_.silent_ms(attempt.id, heartbeat_of(attempt), context_.clock.moment());
  return silent_ms < context_.config.intervals.vanish_running.count();
}

void Tracker::give_up(const db::Attempt& attempt) {
  if (is_folder_away()) return;
  // If the script has begun all the same, its job or its manifest will show.
  if (!fence_off(attempt.directory, attempt.number) && is_claim_alive(attempt)) return;
  const auto item = db::ItemStore(context_.database).find(attempt.item_id).value();
  const auto earlier = db::AttemptStore(context_.database).of_item(attempt.item_id);
  const Outcome outcome =
      judge_never_started(failures_in_row(earlier, item.exempt_through), rules_);
  store_outcome(context_, attempt, outcome,
                {"before-never-started-commit", "after-never-started-commit"});
  report_to_breaker(attempt.token, outcome, false);
  forget(attempt.id);
  moved_ = true;
}

// A shared file system may show the manifest later than the job's end.
bool Tracker::files_may_come(const db::Attempt& attempt, const slurm::JobStatus& job) {
  const bool may_be_late = facts_of(context_.config.cluster).is_remote;
  if (job.state != slurm::JobState::kCompleted || !may_be_late) return false;
  const int64_t now_ms = context_.clock.boot_ms();
  const int64_t since = over_since_.try_emplace(attempt.id, now_ms).first->second;
  return now_ms - since < context_.config.intervals.files.count();
}

// Without an answer nothing is concluded. A record that has not ended is not trusted for ever,
// since a job that slurmctld lost stays PENDING in accounting.
Tracker::Lookup Tracker::ask_accounting(const db::Attempt& attempt) {
  const int64_t now_ms = context_.clock.boot_ms();
  const auto known = absences_.find(attempt.id);
  if (known == absences_.end()) return {};
  Absence& absence = known->second;
  const auto limit = limit_of(attempt);
  const bool expired = now_ms - absence.since_ms >= limit.count();
  if (!expired && now_ms < absence.ask_ms) return {};
  const auto answer = named(attempt);
  if (!answer) return {};
  absence.ask_ms = now_ms + limit.count() / 4;
  const auto job = last_record(attempt, *answer);
  return {.job = job, .vanished = expired && !job};
}

void Tracker::examine(const db::Attempt& attempt, const slurm::JobStatus* job) {
  const bool over = job == nullptr || is_over(job->state);
  if (over && is_folder_away()) {
    ended_unseen_.insert(attempt.id);
    return;
  }
  const auto item = db::ItemStore(context_.database).find(attempt.item_id).value();
  const auto search_template = db::TemplateStore(context_.database).find(item.template_id).value();
  // Read after the snapshot was taken: a job that it shows as ended has left its manifest by then.
  const ManifestReading manifest = read_manifest(attempt, search_template, context_.clock.now());
  const bool accepted = manifest.witness == ManifestWitness::kAccepted;
  if (is_unanswered(attempt) && !accepted) {
    resolve(attempt);
    return;
  }
  Lookup found;
  if (job != nullptr) {
    found.job = *job;
  } else if (!accepted) {
    found = ask_accounting(attempt);
  }
  Evidence evidence =
      gather_evidence(context_, attempt, item, search_template, manifest, found.job);
  evidence.vanished = found.vanished;
  evidence.ended_unseen = ended_unseen_.count(attempt.id) != 0;
  evidence.claim_alive = found.job && is_over(found.job->state) && is_claim_alive(attempt);
  evidence.files_may_come = found.job && files_may_come(attempt, *found.job);
  db::Attempt changed = attempt;
  if (evidence.job) copy_facts(*evidence.job, changed);
  if (evidence.job && evidence.job->exit_code == kDeviceFailed) {
    evidence.hardware_pause = hardware_.pause_reason(changed, evidence.error);
  }
  const auto earlier = db::AttemptStore(context_.database).of_item(item.id);
  Outcome outcome = judge(attempt, evidence, failures_in_row(earlier, item.exempt_through), rules_);
  if (!outcome.item) {
    if (evidence.job) keep(attempt, *evidence.job, outcome);
    return;
  }
  const bool done = outcome.attempt == AttemptState::kDone;
  if (!done && evidence.job) outcome.searched = share_searched(attempt);
  changed.got_further = outcome.searched.has_value();
  conclude(changed, outcome, done ? std::optional(manifest.result) : std::nullopt);
}

void Tracker::conclude(const db::Attempt& attempt, const Outcome& outcome,
                       const std::optional<db::Result>& result) {
  const bool quiet =
      outcome.site_fault == SiteFault::kConfiguration && breaker_.is_known(outcome.pause_reason);
  store_outcome(context_, attempt, outcome, {"before-outcome-commit", "after-outcome-commit"},
                result, quiet);
  report_to_breaker(attempt.token, outcome, true);
  hardware_.note(attempt);
  if (!attempt.job_id.empty()) ended_items_.push_back(attempt.item_id);
  forget(attempt.id);
  moved_ = true;
}

void Tracker::report_to_breaker(const std::string& token, const Outcome& outcome, bool seen) {
  if (outcome.site_fault == SiteFault::kNone) {
    breaker_.observe(token, outcome.attempt, seen, outcome.cause);
    return;
  }
  const int64_t now_ms = context_.clock.boot_ms();
  if (breaker_.trip(outcome.site_fault, outcome.pause_reason, token, now_ms)) {
    context_.warn("submissions paused: " + outcome.pause_reason);
  }
}

}  // namespace scheduler
