#include "scheduler/daemon/daemon.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <utility>

#include "base/text.h"
#include "db/attempts.h"
#include "db/host_failures.h"
#include "db/items.h"
#include "db/queue.h"
#include "db/templates.h"
#include "scheduler/commands/pause_text.h"
#include "scheduler/commands/read_snapshot.h"
#include "scheduler/config/class_widths.h"
#include "scheduler/daemon/outcomes.h"
#include "scheduler/files/disk_space.h"
#include "scheduler/files/file_looks.h"
#include "scheduler/files/jobs_owner.h"
#include "scheduler/policy/cluster_limits.h"

namespace scheduler {
namespace {

std::shared_ptr<FileLooks> make_looks(const DaemonOptions& options) {
  const auto look = [before = options.before_open](const FileFacts& registered) {
    if (before) before(registered.path);
    return look_at(registered);
  };
  return std::make_shared<FileLooks>(look, options.file_threads);
}

}  // namespace

Daemon::Daemon(const Config& config, db::Database& database, slurm::Cluster& cluster,
               const Clock& clock, DaemonOptions options)
    : context_{config,
               database,
               cluster,
               clock,
               std::move(options.crash),
               std::move(options.log),
               std::move(options.warn),
               std::move(options.free_bytes),
               make_looks(options),
               make_looks(options)},
      limits_(limits_of(config)),
      breaker_({.first = config.intervals.retry, .longest_launch = config.intervals.retry_longest}),
      lanes_(config.intervals.retry, config.intervals.retry_longest),
      sizes_(config.intervals.retry, config.intervals.retry_longest),
      reader_(context_, options.file_threads, options.before_open),
      in_hand_(config.state + "/in-hand"),
      queue_(database) {
  add_places(config, limits_);
  if (!context_.log) context_.log = [](const std::string&) {};
  if (!context_.warn) context_.warn = context_.log;
  context_.readers = std::make_shared<FolderReaders>(context_.warn);
  if (!context_.free_bytes) context_.free_bytes = scheduler::free_bytes;
  if (const std::string widths = widths_text(config); !widths.empty()) context_.log(widths);
  next_.version = MARGAY_VERSION;
  next_.pid = getpid();
  next_.since = clock.now();
  next_.instance = database.instance();
  next_.database = database.path();
  next_.device_slots = limits_.slots;
  status_ = next_;
  set_poison_aside();
}

// An item whose work ends the daemon ends the next one too, and nothing else is ever done.
void Daemon::set_poison_aside() {
  const Suspect suspect = in_hand_.suspect();
  if (suspect.item != 0) {
    context_.warn("the last margayd ended abnormally while it had item " +
                  std::to_string(suspect.item) + " in hand");
  }
  if (!in_hand_.problem().empty()) context_.warn(in_hand_.problem());
  if (!is_poison(suspect)) return;
  const bool pauses = in_hand_.is_second_in_row();
  if (pauses) pause_after_crashes(context_, suspect);
  // No pause keeps the daemon from looking at jobs that were submitted.
  if (!pauses || suspect.work == Work::kTrack) quarantine_poison(context_, suspect);
  in_hand_.set_aside();
}

// One item's fault must not stop the others; the next tick is the retry.
void Daemon::guarded(const std::string& what, const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    if (next_.problem.empty()) next_.problem = what + ": " + error.what();
  }
}

Jobs Daemon::ours(slurm::Snapshot&& snapshot) const {
  Jobs jobs;
  const std::string prefix = db::token_prefix(context_.database.instance());
  for (slurm::JobStatus& job : snapshot.jobs) {
    if (!job.name.starts_with(prefix)) continue;
    const std::string name = job.name;
    jobs.emplace(name, std::move(job));
  }
  return jobs;
}

// Returns the attempts that are still open.
std::vector<db::Attempt> Daemon::track() {
  const db::AttemptStore attempts(context_.database);
  std::vector<db::Attempt> open = attempts.open();
  tracker_.begin(snapshot_);
  for (const db::Attempt& attempt : open) {
    in_hand_.take(attempt.item_id, Work::kTrack);
    guarded(attempt.token, [&] { tracker_.track(attempt); });
  }
  in_hand_.put_down();
  guarded("states of jobs", [&] { tracker_.finish(); });
  if (next_.problem.empty()) next_.problem = tracker_.away();
  return tracker_.moved() ? attempts.open() : std::move(open);
}

void Daemon::stop_orphans(const std::vector<db::Attempt>& open) {
  orphans_.begin(open);
  for (const auto& [name, job] : snapshot_.jobs) {
    guarded(name, [&, &job = job] { orphans_.check(job); });
  }
  orphans_.finish();
}

// While the folder of jobs is away, nothing can be removed from it.
void Daemon::forget_ended() {
  if (!why_not_ours(context_.config.jobs(), context_.database.instance()).empty()) return;
  for (const db::Attempt& attempt : db::AttemptStore(context_.database).ended_not_forgotten()) {
    guarded(attempt.token, [&] { orphans_.forget(attempt, snapshot_); });
  }
}

void Daemon::forget_host_failures() {
  constexpr int64_t kHour = 3600;
  const int64_t now = context_.clock.now();
  if (std::abs(now - host_failures_forgotten_) < kHour) return;
  host_failures_forgotten_ = now;
  const auto window =
      std::chrono::duration_cast<std::chrono::seconds>(context_.config.intervals.host_failures);
  db::HostFailureStore(context_.database).remove_before(now - window.count());
}

void Daemon::look_for_unreadable_rows() {
  constexpr int64_t kInterval = 600;
  constexpr int64_t kShown = 3;
  const int64_t now = context_.clock.now();
  if (rows_read_ != 0 && std::abs(now - rows_read_) < kInterval) return;
  rows_read_ = now;
  auto rows = db::ItemStore(context_.database).unreadable(kShown);
  for (std::string& row : db::AttemptStore(context_.database).unreadable(kShown)) {
    rows.push_back(std::move(row));
  }
  unreadable_rows_ = base::joined(rows, "; ");
  if (!rows.empty())
    unreadable_rows_ +=
        "; left out of the queue until it is corrected or a newer margayd is started";
}

// A limit may allow another job now: any in a lane, and one of the same size there.
void Daemon::note_ended_jobs() {
  if (tracker_.ended_items().empty()) return;
  breaker_.job_ended();
  lanes_.job_ended();
  if (sizes_.empty()) return;
  for (const int64_t id : tracker_.ended_items()) {
    const auto item = db::ItemStore(context_.database).find(id);
    if (!item) continue;
    const std::string lane = lane_of_item(item->priority, item->options, limits_);
    sizes_.job_ended(sized_lane(lane, size_of(item->options)));
  }
}

std::map<std::string, std::string> Daemon::held_lanes() const {
  const int64_t now_ms = context_.clock.boot_ms();
  std::map<std::string, std::string> held = lanes_.held(now_ms);
  held.merge(sizes_.held(now_ms));
  return held;
}

void Daemon::look_at(slurm::Snapshot&& snapshot) {
  const bool complete = snapshot.complete;
  if (complete) {
    if (!snapshot_.complete) breaker_.retry_now(context_.clock.boot_ms());
    next_.last_snapshot = context_.clock.now();
    awaits_snapshot_ = false;
    fresh_.listed();
  }
  snapshot_ = {ours(std::move(snapshot)), complete};
  const std::vector<db::Attempt> open = track();
  note_ended_jobs();
  stop_orphans(open);
  if (complete) guarded("ended attempts", [this] { forget_ended(); });
  forget_host_failures();
  snapshot_problem_ = next_.problem;
}

// What was stored since the clock was set, by this tick or another thread, has the new time
// already: its wait is limited after all are shifted.
void Daemon::move_times(int64_t now, int64_t seconds) {
  const auto longest =
      std::max(context_.config.intervals.retry, context_.config.intervals.retry_longest);
  db::Transaction transaction(context_.database);
  db::QueueStore queue(context_.database);
  if (seconds != 0) queue.shift_waits(seconds);
  queue.limit_waits(now, longest.count() / 1000 + 1);
  db::HostFailureStore(context_.database).limit_times(now);
  hardware_.limit_times(now);
  transaction.commit();
}

// Before anything is waited for. When it fails, the next tick notices the same jump.
void Daemon::follow_clock() {
  const Moment moment = context_.clock.moment();
  ClockJumps jumps = clock_jumps_;
  const int64_t seconds = jumps.seconds(moment);
  if (seconds != 0 || !times_moved_) move_times(moment.wall_ms / 1000, seconds);
  times_moved_ = true;
  clock_jumps_ = jumps;
  if (seconds == 0) return;
  context_.warn("the clock of this machine was set " + std::to_string(std::abs(seconds)) + " s " +
                (seconds > 0 ? "forward" : "back") + ": waits keep their lengths");
}

HangingFiles Daemon::hanging_files() const {
  HangingFiles hanging{.micrographs = context_.micrographs->hanging(), .unread = reader_.hanging()};
  const auto registrants = context_.volumes->hanging();
  if (registrants.empty()) return hanging;
  for (const db::Template& one : db::TemplateStore(context_.database).list()) {
    const auto why = registrants.find(one.owner_uid);
    if (why != registrants.end()) hanging.volumes.emplace(one.id, why->second);
  }
  return hanging;
}

void Daemon::round() {
  context_.micrographs->begin_round();
  context_.volumes->begin_round();
  slurm::Snapshot snapshot = context_.cluster.states();
  next_.cluster = context_.cluster.describe();
  next_.degraded = !snapshot.complete;
  const bool complete = snapshot.complete;
  if (!complete) next_.problem = snapshot.problem;
  if (snapshot.fresh) {
    look_at(std::move(snapshot));
  } else {
    if (!snapshot_problem_.empty()) next_.problem = snapshot_problem_;
    guarded("cancels", [&] { tracker_.stop_cancelled(snapshot_); });
  }
  plan_and_submit(complete);
  next_.busy_slots = static_cast<int>(db::QueueStore(context_.database).count_attempts());
}

// Said once, since the seconds in the sentence grow.
void Daemon::note_hanging_files() {
  HangingFiles hanging = hanging_files();
  const auto note = [this](const auto& present, const auto& known, const std::string& what) {
    for (const auto& [key, why] : present) {
      if (known.count(key) != 0) continue;
      context_.warn(why + ": " + what + " " + std::to_string(key) + " wait");
    }
  };
  note(hanging.micrographs, hanging_files_.micrographs, "items of uid");
  note(hanging.unread, hanging_files_.unread, "unread micrographs of uid");
  note(hanging.volumes, hanging_files_.volumes, "items with template");
  hanging_files_ = std::move(hanging);
}

void Daemon::publish() {
  if (next_.problem != last_problem_) {
    next_.problem.empty() ? context_.log("recovered") : context_.warn(next_.problem);
  }
  last_problem_ = next_.problem;
  next_.last_tick = context_.clock.now();
  next_.orphans = orphans_.stopped();
  next_.pause_reason =
      launch_pause_.empty() ? breaker_.problem(context_.clock.boot_ms()) : launch_pause_;
  next_.held_lanes = held_lanes();
  const std::scoped_lock lock(mutex_);
  status_ = next_;
}

void Daemon::tick() {
  next_.problem.clear();
  guarded("clock", [this] { follow_clock(); });
  guarded("tick", [this] { round(); });
  guarded("database", [this] { look_for_unreadable_rows(); });
  guarded("files", [this] { note_hanging_files(); });
  if (next_.problem.empty()) next_.problem = unreadable_rows_;
  ++next_.ticks;
  publish();
}

std::string Daemon::pause_reason() const {
  const std::scoped_lock lock(mutex_);
  return status_.pause_reason;
}

DaemonStatus Daemon::status() const {
  DaemonStatus status;
  {
    const std::scoped_lock lock(mutex_);
    status = status_;
  }
  // The administrator's pause shows at once, and not after the next tick.
  const std::string paused = pause_text(context_.database);
  if (!paused.empty()) status.pause_reason = paused;
  for (auto& [lane, why] : paused_lanes(context_.database)) status.held_lanes[lane] = why;
  status.now = context_.clock.now();
  if (const LastPlan plan = last_plan()) {
    status.plan_age = std::max<int64_t>(status.now - plan->plan.made, 0);
  }
  if (status.last_snapshot > 0) status.data_age = status.now - status.last_snapshot;
  status.items = db::ItemStore(context_.database).counts();
  return status;
}

}  // namespace scheduler
