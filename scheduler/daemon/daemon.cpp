#include "scheduler/daemon/daemon.h"

#include <unistd.h>

#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "db/attempts.h"
#include "db/host_failures.h"
#include "db/items.h"
#include "db/queue.h"
#include "scheduler/commands/read_snapshot.h"
#include "scheduler/daemon/context.h"
#include "scheduler/daemon/job_requests.h"
#include "scheduler/daemon/launcher.h"
#include "scheduler/daemon/orphans.h"
#include "scheduler/daemon/tracker.h"
#include "scheduler/files/disk_space.h"
#include "scheduler/policy/circuit_breaker.h"
#include "scheduler/script/job_script.h"

namespace scheduler {

class Daemon::Impl {
 public:
  Impl(const Config& config, db::Database& database, slurm::Cluster& cluster, const Clock& clock,
       DaemonOptions options)
      : context_{config,
                 database,
                 cluster,
                 clock,
                 std::move(options.crash),
                 std::move(options.log),
                 std::move(options.free_bytes)},
        limits_(limits_of(config)),
        breaker_(
            {.first = config.intervals.retry, .longest_launch = config.intervals.retry_longest}) {
    if (!context_.log) context_.log = [](const std::string&) {};
    if (!context_.free_bytes) context_.free_bytes = scheduler::free_bytes;
    status_.version = MARGAY_VERSION;
    status_.pid = getpid();
    status_.since = clock.now();
    status_.instance = database.instance();
    status_.database = database.path();
    status_.device_slots = limits_.slots;
  }

  void tick();
  DaemonStatus status() const;
  std::string pause_reason() const;

 private:
  void round();
  void look_at(slurm::Snapshot&& snapshot);
  Jobs ours(slurm::Snapshot&& snapshot) const;
  std::vector<db::Attempt> track();
  void stop_orphans(const std::vector<db::Attempt>& open);
  void forget_ended();
  void forget_host_failures();
  bool may_ask();
  bool may_submit();
  void submit();
  bool launch(const Decision& decision);
  void widen(const Decision& decision);
  void guarded(const std::string& what, const std::function<void()>& action);
  void publish();

  DaemonContext context_;
  ClusterLimits limits_;
  CircuitBreaker breaker_;
  Tracker tracker_{context_, breaker_};
  Launcher launcher_{context_, breaker_};
  Orphans orphans_{context_};
  JobSnapshot snapshot_;          // the last fresh one
  bool awaits_snapshot_ = false;  // nobody knows what became of the last submission
  bool degraded_ = false;
  std::string problem_;           // of this tick: the first
  std::string snapshot_problem_;  // of the last picture: the first
  std::string last_problem_;
  std::string launch_hold_;  // why the last launch stopped; asked anew at every tick
  int64_t last_snapshot_ = 0;
  int64_t host_failures_forgotten_ = 0;
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

Jobs Daemon::Impl::ours(slurm::Snapshot&& snapshot) const {
  Jobs jobs;
  const std::string prefix = context_.token_prefix();
  for (slurm::JobStatus& job : snapshot.jobs) {
    if (!job.name.starts_with(prefix)) continue;
    const std::string name = job.name;
    jobs.emplace(name, std::move(job));
  }
  return jobs;
}

// Returns the attempts that are open after it.
std::vector<db::Attempt> Daemon::Impl::track() {
  const db::AttemptStore attempts(context_.database);
  std::vector<db::Attempt> open = attempts.open();
  tracker_.begin(snapshot_);
  for (const db::Attempt& attempt : open) {
    guarded(attempt.token, [&] { tracker_.track(attempt); });
  }
  guarded("states of jobs", [&] { tracker_.finish(); });
  return tracker_.moved() ? attempts.open() : std::move(open);
}

void Daemon::Impl::stop_orphans(const std::vector<db::Attempt>& open) {
  orphans_.begin(open);
  for (const auto& [name, job] : snapshot_.jobs) {
    guarded(name, [&, &job = job] { orphans_.check(job); });
  }
  orphans_.finish();
}

void Daemon::Impl::forget_ended() {
  for (const db::Attempt& attempt : db::AttemptStore(context_.database).ended_not_forgotten()) {
    guarded(attempt.token, [&] { orphans_.forget(attempt, snapshot_); });
  }
}

void Daemon::Impl::forget_host_failures() {
  constexpr int64_t kHour = 3600;
  const int64_t now = context_.clock.now();
  if (now - host_failures_forgotten_ < kHour) return;
  host_failures_forgotten_ = now;
  const auto window =
      std::chrono::duration_cast<std::chrono::seconds>(context_.config.intervals.host_failures);
  db::HostFailureStore(context_.database).remove_before(now - window.count());
}

void Daemon::Impl::look_at(slurm::Snapshot&& snapshot) {
  const bool complete = snapshot.complete;
  if (complete) {
    if (!snapshot_.complete) breaker_.retry_now(context_.clock.now_ms());
    last_snapshot_ = context_.clock.now();
    awaits_snapshot_ = false;
  }
  snapshot_ = {ours(std::move(snapshot)), complete};
  const std::vector<db::Attempt> open = track();
  stop_orphans(open);
  if (complete) forget_ended();
  forget_host_failures();
  snapshot_problem_ = problem_;
}

bool Daemon::Impl::may_ask() {
  return !awaits_snapshot_ && breaker_.pause(context_.clock.now_ms()).empty() &&
         context_.cluster.allowance() > kKeptBySubmissions;
}

bool Daemon::Impl::may_submit() { return busy_ < limits_.slots && may_ask(); }

// False when nothing more is to be launched in this tick.
bool Daemon::Impl::launch(const Decision& decision) {
  LaunchResult result;
  guarded("item " + std::to_string(decision.item_id), [&] { result = launcher_.launch(decision); });
  launch_hold_ = result.hold;
  if (result.unanswered) awaits_snapshot_ = true;
  const bool tries = breaker_.is_probing() && result.submitted;
  return result.hold.empty() && !tries && may_submit();
}

// What could not be submitted wide is not stopped for that.
void Daemon::Impl::widen(const Decision& decision) {
  guarded("item " + std::to_string(decision.item_id), [&] {
    const auto attempt = db::AttemptStore(context_.database).newest_of_item(decision.item_id);
    const slurm::JobStatus* job = attempt ? snapshot_.job_of(*attempt) : nullptr;
    if (job == nullptr || !can_be_stopped(*job)) return;
    const auto item = db::ItemStore(context_.database).find(decision.item_id).value();
    directives_of(context_.config, parse_shape(decision.shape->name).value(), item.options);
    begin_to_stop(context_, *attempt, *job);
  });
}

void Daemon::Impl::submit() {
  launch_hold_.clear();
  busy_ =
      static_cast<int>(db::QueueStore(context_.database).count_attempts()) + orphans_.occupying();
  // One that runs gives its own place up for the wider job.
  if (limits_.urgent ? !may_ask() : !may_submit()) return;
  Snapshot snapshot = read_queue(context_.database, context_.clock.now(), limits_);
  snapshot.busy_slots += orphans_.occupying();
  const std::vector<Decision> decisions = plan(snapshot);
  for (const Decision& decision : decisions) {
    if (decision.verdict == Verdict::kStart && !launch(decision)) return;
  }
  for (const Decision& decision : decisions) {
    if (decision.verdict == Verdict::kWiden && may_ask()) widen(decision);
  }
}

void Daemon::Impl::round() {
  slurm::Snapshot snapshot = context_.cluster.states();
  described_ = context_.cluster.describe();
  degraded_ = !snapshot.complete;
  const bool complete = snapshot.complete;
  if (!complete) problem_ = snapshot.problem;
  if (snapshot.fresh) {
    look_at(std::move(snapshot));
  } else {
    if (!snapshot_problem_.empty()) problem_ = snapshot_problem_;
    guarded("cancels", [&] { tracker_.stop_cancelled(snapshot_); });
  }
  // Without a whole picture of the cluster nothing is added to it.
  if (complete) submit();
  busy_ = static_cast<int>(db::QueueStore(context_.database).count_attempts());
}

void Daemon::Impl::publish() {
  if (problem_ != last_problem_) context_.log(problem_.empty() ? "well again" : problem_);
  last_problem_ = problem_;
  const std::scoped_lock lock(mutex_);
  status_.cluster = described_;
  status_.busy_slots = busy_;
  status_.ticks = ticks_;
  status_.last_tick = context_.clock.now();
  status_.last_snapshot = last_snapshot_;
  status_.degraded = degraded_;
  status_.problem = problem_;
  status_.orphans = orphans_.stopped();
  status_.pause_reason =
      launch_hold_.empty() ? breaker_.problem(context_.clock.now_ms()) : launch_hold_;
}

void Daemon::Impl::tick() {
  problem_.clear();
  guarded("tick", [this] { round(); });
  ++ticks_;
  publish();
}

std::string Daemon::Impl::pause_reason() const {
  const std::scoped_lock lock(mutex_);
  return status_.pause_reason;
}

DaemonStatus Daemon::Impl::status() const {
  DaemonStatus status;
  {
    const std::scoped_lock lock(mutex_);
    status = status_;
  }
  status.now = context_.clock.now();
  if (status.last_snapshot > 0) status.data_age = status.now - status.last_snapshot;
  status.items = db::ItemStore(context_.database).counts();
  return status;
}

Daemon::Daemon(const Config& config, db::Database& database, slurm::Cluster& cluster,
               const Clock& clock, DaemonOptions options)
    : impl_(std::make_unique<Impl>(config, database, cluster, clock, std::move(options))) {}

Daemon::~Daemon() = default;

void Daemon::tick() { impl_->tick(); }

std::string Daemon::pause_reason() const { return impl_->pause_reason(); }

DaemonStatus Daemon::status() const { return impl_->status(); }

}  // namespace scheduler
