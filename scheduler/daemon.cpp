#include "scheduler/daemon.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <vector>

#include "db/attempts.h"
#include "db/items.h"
#include "scheduler/launch.h"
#include "scheduler/queue.h"
#include "scheduler/results.h"
#include "scheduler/space.h"
#include "scheduler/tracking.h"
#include "scheduler/workplace.h"

namespace scheduler {

class Daemon::Impl {
 public:
  Impl(const Config& config, db::Database& database, slurm::Cluster& cluster, const Clock& clock,
       DaemonOptions options)
      : workplace_{config,
                   database,
                   cluster,
                   clock,
                   std::move(options.crash),
                   std::move(options.log),
                   std::move(options.free_bytes)} {
    if (!workplace_.log) workplace_.log = [](const std::string&) {};
    if (!workplace_.free_bytes) workplace_.free_bytes = scheduler::free_bytes;
    status_.version = MARGAY_VERSION;
    status_.pid = getpid();
    status_.since = clock.now();
    status_.instance = database.instance();
    status_.database = database.path();
    status_.device_slots = config.local.slots;
  }

  void tick();
  DaemonStatus status() const;
  std::string lane_hold() const;

 private:
  void round();
  Jobs ours(const slurm::Snapshot& snapshot) const;
  void track(const Jobs& jobs, bool complete);
  void reap(const Jobs& jobs);
  void reap_one(const slurm::JobStatus& job);
  void forget_ended(const Jobs& jobs, bool complete);
  void forget_one(const db::Attempt& attempt, const Jobs& jobs);
  int busy_slots(const Jobs& jobs) const;
  void submit(const Jobs& jobs);
  void rest(const std::string& why);
  std::string resting() const;
  void guarded(const std::string& what, const std::function<void()>& action);
  void publish();

  Workplace workplace_;
  Tracker tracker_{workplace_};
  Launcher launcher_{workplace_};
  std::string problem_;  // of this tick: the first
  std::string last_problem_;
  std::string rest_reason_;
  int64_t rest_until_ms_ = 0;
  std::string launch_hold_;  // why the last launch stopped the lane; asked anew at every tick
  int64_t last_snapshot_ = 0;
  int64_t ticks_ = 0;
  int busy_ = 0;
  std::string described_;

  mutable std::mutex mutex_;
  DaemonStatus status_;
};

// One item's trouble must not stop the others; the next tick is the retry.
void Daemon::Impl::guarded(const std::string& what, const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    if (problem_.empty()) problem_ = what + ": " + error.what();
  }
}

Jobs Daemon::Impl::ours(const slurm::Snapshot& snapshot) const {
  Jobs jobs;
  const std::string prefix = workplace_.token_prefix();
  for (const slurm::JobStatus& job : snapshot.jobs) {
    if (job.name.rfind(prefix, 0) == 0) jobs.emplace(job.name, job);
  }
  return jobs;
}

void Daemon::Impl::track(const Jobs& jobs, bool complete) {
  for (const db::Attempt& attempt : db::AttemptStore(workplace_.database).open()) {
    guarded(attempt.token, [&] {
      const std::string why = tracker_.track(attempt, jobs, complete);
      if (!why.empty()) rest(why);
    });
  }
}

// Jobs of ours that no open attempt owns: one that is over, whose outcome is stored, is forgotten;
// a ghost that was given up, or the second of a name, is stopped.
void Daemon::Impl::reap_one(const slurm::JobStatus& job) {
  const auto attempt = db::AttemptStore(workplace_.database).find_by_token(job.name);
  const bool ended = has_ended(job.state);
  const bool owner = attempt && (attempt->job_id.empty() || attempt->job_id == job.job_id);
  if (owner && db::is_open(attempt->state)) return;
  if (owner && attempt->state == db::AttemptState::kDone && !ended) return;  // on its way out
  if (!ended) {
    workplace_.log("job " + job.job_id + " (" + job.name + ") belongs to no open attempt: stopped");
    workplace_.cluster.cancel(job.job_id);
  } else {
    workplace_.cluster.forget(job.job_id);
  }
}

void Daemon::Impl::reap(const Jobs& jobs) {
  for (const auto& entry : jobs) {
    guarded(entry.first, [&] { reap_one(entry.second); });
  }
}

// The job is over and its result stored: leftovers go.
void Daemon::Impl::forget_one(const db::Attempt& attempt, const Jobs& jobs) {
  const auto [first, last] = jobs.equal_range(attempt.token);
  for (auto job = first; job != last; ++job) {
    if (!has_ended(job->second.state)) return;
  }
  reach(workplace_.crash, "before-forget");
  if (attempt.state == db::AttemptState::kDone) {
    remove_leftovers(attempt.directory, workplace_.config.keep);
    for (const db::Attempt& earlier :
         db::AttemptStore(workplace_.database).of_item(attempt.item_id)) {
      if (earlier.number < attempt.number) {
        remove_leftovers(earlier.directory, ResultsKeep::kPeaks);
      }
    }
  }
  db::AttemptStore(workplace_.database).mark_forgotten(attempt.id);
  reach(workplace_.crash, "after-forget");
}

void Daemon::Impl::forget_ended(const Jobs& jobs, bool complete) {
  if (!complete) return;
  for (const db::Attempt& attempt : db::AttemptStore(workplace_.database).ended_not_forgotten()) {
    guarded(attempt.token, [&] { forget_one(attempt, jobs); });
  }
}

int Daemon::Impl::busy_slots(const Jobs& jobs) const {
  const db::AttemptStore attempts(workplace_.database);
  int busy = static_cast<int>(attempts.open().size());
  for (const auto& [name, job] : jobs) {
    if (has_ended(job.state)) continue;
    const auto attempt = attempts.find_by_token(name);
    if (!attempt || !db::is_open(attempt->state)) ++busy;
  }
  return busy;
}

void Daemon::Impl::rest(const std::string& why) {
  rest_reason_ = why;
  rest_until_ms_ = workplace_.clock.now_ms() + workplace_.config.intervals.retry.count();
  workplace_.log("nothing is submitted for a while: " + why);
}

std::string Daemon::Impl::resting() const {
  return workplace_.clock.now_ms() < rest_until_ms_ ? rest_reason_ : "";
}

void Daemon::Impl::submit(const Jobs& jobs) {
  Snapshot snapshot =
      read_queue(workplace_.database, workplace_.clock.now(), workplace_.config.local.slots);
  snapshot.busy_slots = busy_slots(jobs);
  snapshot.lane_hold = resting();
  launch_hold_.clear();
  for (const Decision& decision : plan(snapshot)) {
    if (decision.verdict != Verdict::kStart) continue;
    LaneHold hold;
    guarded("item " + std::to_string(decision.item_id), [&] { hold = launcher_.launch(decision); });
    if (hold.why.empty()) continue;
    launch_hold_ = hold.why;
    if (hold.rests) rest(hold.why);
    break;
  }
}

void Daemon::Impl::round() {
  const slurm::Snapshot snapshot = workplace_.cluster.states();
  described_ = workplace_.cluster.describe();
  if (snapshot.complete) last_snapshot_ = workplace_.clock.now();
  if (!snapshot.complete) problem_ = snapshot.problem;
  const Jobs jobs = ours(snapshot);
  track(jobs, snapshot.complete);
  reap(jobs);
  forget_ended(jobs, snapshot.complete);
  // Without a whole picture of the cluster nothing is added to it.
  if (snapshot.complete) submit(jobs);
  busy_ = static_cast<int>(db::AttemptStore(workplace_.database).open().size());
}

void Daemon::Impl::publish() {
  if (problem_ != last_problem_) workplace_.log(problem_.empty() ? "well again" : problem_);
  last_problem_ = problem_;
  const std::scoped_lock lock(mutex_);
  status_.cluster = described_;
  status_.busy_slots = busy_;
  status_.ticks = ticks_;
  status_.last_tick = workplace_.clock.now();
  status_.last_snapshot = last_snapshot_;
  status_.problem = problem_;
  status_.lane_hold = launch_hold_.empty() ? resting() : launch_hold_;
}

void Daemon::Impl::tick() {
  problem_.clear();
  guarded("tick", [this] { round(); });
  ++ticks_;
  publish();
}

std::string Daemon::Impl::lane_hold() const {
  const std::scoped_lock lock(mutex_);
  return status_.lane_hold;
}

DaemonStatus Daemon::Impl::status() const {
  DaemonStatus status;
  {
    const std::scoped_lock lock(mutex_);
    status = status_;
  }
  status.now = workplace_.clock.now();
  status.items = db::ItemStore(workplace_.database).counts();
  return status;
}

Daemon::Daemon(const Config& config, db::Database& database, slurm::Cluster& cluster,
               const Clock& clock, DaemonOptions options)
    : impl_(std::make_unique<Impl>(config, database, cluster, clock, std::move(options))) {}

Daemon::~Daemon() = default;

void Daemon::tick() { impl_->tick(); }

std::string Daemon::lane_hold() const { return impl_->lane_hold(); }

DaemonStatus Daemon::status() const { return impl_->status(); }

}  // namespace scheduler
