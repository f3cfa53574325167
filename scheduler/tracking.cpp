#include "scheduler/tracking.h"

#include <sys/stat.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "db/attempts.h"
#include "db/items.h"
#include "db/templates.h"
#include "scheduler/attempt_folder.h"
#include "scheduler/files.h"
#include "scheduler/launch.h"
#include "scheduler/outcomes.h"
#include "scheduler/results.h"

namespace scheduler {
namespace {

using db::AttemptState;

constexpr int64_t kLogEnd = 64 * 1024;
constexpr int64_t kFullDisk = 1 << 20;

int64_t modified_ms(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return 0;
  return facts.st_mtim.tv_sec * 1000LL + facts.st_mtim.tv_nsec / 1'000'000;
}

// The oldest wins when a name was submitted twice.
bool is_older(const slurm::JobStatus& a, const slurm::JobStatus& b) {
  return a.submit_time < b.submit_time;
}

const slurm::JobStatus* find_job(const db::Attempt& attempt, const Jobs& jobs) {
  const auto [first, last] = jobs.equal_range(attempt.token);
  for (auto job = first; job != last; ++job) {
    if (job->second.job_id == attempt.job_id) return &job->second;
  }
  return nullptr;
}

bool differs(const db::Attempt& a, const db::Attempt& b, const Outcome& outcome) {
  return a.state != outcome.attempt || a.message != outcome.message || a.host != b.host ||
         a.exit_code != b.exit_code || a.started != b.started;
}

void copy_facts(const slurm::JobStatus& job, db::Attempt& attempt) {
  if (!job.host.empty()) attempt.host = job.host;
  if (job.exit_code) attempt.exit_code = job.exit_code;
  if (job.start_time > 0) attempt.started = job.start_time;
  if (job.end_time > 0) attempt.ended = job.end_time;
}

}  // namespace

void Tracker::adopt(db::Attempt attempt, const slurm::JobStatus& job) {
  attempt.job_id = job.job_id;
  if (attempt.submitted == 0) {
    attempt.submitted = job.submit_time > 0 ? job.submit_time : workplace_.clock.now();
  }
  store_outcome(workplace_, attempt, {.attempt = AttemptState::kPending}, std::nullopt,
                "before-adopt-commit", "after-adopt-commit");
  looked_up_.erase(attempt.id);
}

// Nothing is submitted twice on a guess: only two complete looks without the name, after a time in
// which a late submission would have arrived, prove that there is no job.
void Tracker::resolve(const db::Attempt& attempt, const Jobs& jobs, bool complete) {
  const auto [first, last] = jobs.equal_range(attempt.token);
  std::vector<slurm::JobStatus> found;
  for (auto job = first; job != last; ++job) found.push_back(job->second);
  const int64_t since_ms = std::max(attempt.created, attempt.submitted) * 1000;
  const bool late =
      workplace_.clock.now_ms() - since_ms >= workplace_.config.intervals.resolve.count();
  if (found.empty() && complete && late) {
    const auto named = workplace_.cluster.find_by_name(attempt.token);
    if (!named) return;
    found = *named;
  }
  if (!found.empty()) {
    // The other ones are closed by the reaper: their job is not the attempt's.
    adopt(attempt, *std::min_element(found.begin(), found.end(), is_older));
    return;
  }
  if (!complete || !late || ++looked_up_[attempt.id] < 2) return;
  looked_up_.erase(attempt.id);
  const auto item = db::ItemStore(workplace_.database).find(attempt.item_id).value();
  const auto earlier = db::AttemptStore(workplace_.database).of_item(attempt.item_id);
  store_outcome(
      workplace_, attempt,
      judge_never_started(failures_of(earlier, item.forgiven), retry_rules(workplace_.config)),
      std::nullopt, "before-never-started-commit", "after-never-started-commit");
}

bool Tracker::has_vanished(const db::Attempt& attempt, bool present, bool complete) {
  if (present || !complete) {
    absent_since_ms_.erase(attempt.id);
    return false;
  }
  const int64_t now_ms = workplace_.clock.now_ms();
  const int64_t since = absent_since_ms_.try_emplace(attempt.id, now_ms).first->second;
  const Intervals& intervals = workplace_.config.intervals;
  const auto limit =
      attempt.state == AttemptState::kPending ? intervals.vanish_pending : intervals.vanish_running;
  return now_ms - since >= limit.count();
}

// What only matters once the job is over.
void Tracker::add_end(const db::Attempt& attempt, Evidence& evidence) const {
  evidence.error = last_error(read_end(attempt.directory + "/" + kLogFile, kLogEnd));
  evidence.disk_full = evidence.error.find("No space left on device") != std::string::npos ||
                       workplace_.free_bytes(workplace_.config.jobs()) < kFullDisk;
  int64_t newest = 0;
  for (const char* file : {kClaimFolder, kProgressFile, kCheckpointFile}) {
    newest = std::max(newest, modified_ms(attempt.directory + "/" + file));
  }
  evidence.claim_alive =
      workplace_.clock.now_ms() - newest < workplace_.config.intervals.vanish_running.count();
}

Evidence Tracker::gather(const db::Attempt& attempt, const db::Item& item,
                         const slurm::JobStatus* job) const {
  Evidence evidence;
  evidence.cancel_requested = item.cancel_requested;
  if (job == nullptr) return evidence;
  evidence.job = *job;
  if (has_ended(job->state)) add_end(attempt, evidence);
  return evidence;
}

void Tracker::ask_to_stop(const db::Attempt& attempt, const db::Item& item) const {
  if (!item.cancel_requested || attempt.job_id.empty()) return;
  workplace_.cluster.cancel(attempt.job_id);
}

std::string Tracker::track(const db::Attempt& attempt, const Jobs& jobs, bool complete) {
  const bool unanswered =
      attempt.state == AttemptState::kSubmitting || attempt.state == AttemptState::kUnknown;
  const auto item = db::ItemStore(workplace_.database).find(attempt.item_id).value();
  const auto search_template =
      db::TemplateStore(workplace_.database).find(item.template_id).value();
  // Read after the snapshot was taken: a job that it shows as ended has left its manifest by now.
  const ManifestReading manifest = read_manifest(attempt, search_template, workplace_.clock.now());
  const bool done = manifest.witness == ManifestWitness::kAccepted;
  if (unanswered && !done) {
    resolve(attempt, jobs, complete);
    return "";
  }
  const slurm::JobStatus* job = find_job(attempt, jobs);
  Evidence evidence = gather(attempt, item, job);
  evidence.manifest = manifest.witness;
  evidence.manifest_problem = manifest.problem;
  evidence.vanished = has_vanished(attempt, job != nullptr, complete);
  if (done) {
    const std::string changed =
        how_changed(item.micrograph_path, item.micrograph_bytes, item.micrograph_mtime_ns);
    // Moved away after the search is nothing to us; other data is.
    if (changed.find("is missing") == std::string::npos) evidence.micrograph_changed = changed;
  }
  const auto earlier = db::AttemptStore(workplace_.database).of_item(item.id);
  const Outcome outcome =
      judge(attempt, evidence, failures_of(earlier, item.forgiven), retry_rules(workplace_.config));
  db::Attempt changed = attempt;
  if (job != nullptr) copy_facts(*job, changed);
  if (!outcome.item) {
    // Not over, whatever an end time says (a claim held by another run).
    changed.ended = attempt.ended;
    ask_to_stop(attempt, item);
    if (!differs(attempt, changed, outcome)) return "";
  } else {
    absent_since_ms_.erase(attempt.id);
  }
  const bool accepted = outcome.attempt == AttemptState::kDone;
  store_outcome(workplace_, changed, outcome,
                accepted ? std::optional(manifest.result) : std::nullopt, "before-outcome-commit",
                "after-outcome-commit");
  return outcome.lane_hold;
}

}  // namespace scheduler
