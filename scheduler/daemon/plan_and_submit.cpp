// Implements daemon.h: plans once a tick, publishes the plan and carries it out.
#include <algorithm>
#include <tuple>
#include <utility>

#include "db/items.h"
#include "db/pauses.h"
#include "db/queue.h"
#include "scheduler/commands/pause_text.h"
#include "scheduler/commands/read_snapshot.h"
#include "scheduler/daemon/daemon.h"
#include "scheduler/daemon/job_requests.h"
#include "scheduler/daemon/launcher.h"

namespace scheduler {
namespace {

// Whether the same files hang; the seconds in the sentences grow.
bool hang_alike(const HangingFiles& a, const HangingFiles& b) {
  const auto alike = [](const auto& left, const auto& right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](const auto& one, const auto& other) { return one.first == other.first; });
  };
  return alike(a.micrographs, b.micrographs) && alike(a.unread, b.unread) &&
         alike(a.volumes, b.volumes);
}

}  // namespace

bool Daemon::may_ask() {
  return !awaits_snapshot_ && breaker_.pause(context_.clock.boot_ms()).empty() &&
         context_.cluster.allowance() > kKeptBySubmissions;
}

bool Daemon::may_submit() { return next_.busy_slots < limits_.slots && may_ask(); }

bool Daemon::is_paused() const { return !pause_text(context_.database).empty(); }

// An administrator may have paused it since the plan was made.
bool Daemon::is_lane_paused(const JobStart& start) const {
  const auto paused = db::PauseStore(context_.database).lanes();
  if (paused.empty()) return false;
  const auto item = db::ItemStore(context_.database).find(start.item_id);
  return item && paused_by(paused, item->priority, item->options, limits_) != nullptr;
}

// Returns false when nothing more is to be launched in this tick.
bool Daemon::launch(const JobStart& start) {
  if (is_paused()) return false;
  if (is_lane_paused(start)) return true;
  LaunchResult result;
  in_hand_.take(start.item_id, Work::kLaunch);
  guarded("item " + std::to_string(start.item_id), [&] {
    result = launch_item(context_, {breaker_, lanes_, sizes_}, limits_, start);
  });
  in_hand_.put_down();
  launch_pause_ = result.hold;
  if (result.unanswered) awaits_snapshot_ = true;
  if (!result.job_id.empty()) {
    fresh_.submitted(start, result.job_id, context_.clock.boot_ms());
  }
  const bool probes = breaker_.is_probing() && result.submitted;
  return result.hold.empty() && !probes && may_submit();
}

// Asks the cluster only where more jobs would be submitted if the last ones had started.
void Daemon::count_fresh_jobs(QueueSnapshot& snapshot) {
  const auto listed = std::tuple(snapshot.pending, snapshot.pending_apart, snapshot.running);
  fresh_.apply(snapshot);
  for (const db::Priority priority : full_classes(snapshot)) {
    fresh_.look(context_.cluster, priority, context_.clock.boot_ms());
  }
  std::tie(snapshot.pending, snapshot.pending_apart, snapshot.running) = listed;
  fresh_.apply(snapshot);
}

// `looks`: the cluster may be asked.
LastPlan Daemon::make_plan(const std::string& pause, bool looks) {
  QueueSnapshot& snapshot = queue_.read(context_.clock.now(), limits_);
  snapshot.busy_slots += orphans_.occupying();
  snapshot.probing = breaker_.is_probing();
  snapshot.expects_times = true;
  snapshot.pause_reason = pause;
  snapshot.held_lanes.merge(held_lanes());
  snapshot.refused_lanes = lanes_.refused();
  snapshot.hanging_files = hanging_files();
  snapshot.not_widened = widener_.not_widened();
  widths_.add_to(snapshot);
  used_.add_to(snapshot);
  snapshot.idle_since = idle_since_;
  if (looks) {
    guarded("fresh jobs", [&] { count_fresh_jobs(snapshot); });
  } else {
    fresh_.apply(snapshot);
  }
  Plan made = plan(snapshot);
  idle_since_ = made.idle_since;
  return std::make_shared<const PublishedPlan>(
      PublishedPlan{.plan = std::move(made), .interval = context_.config.intervals.tick});
}

void Daemon::carry_out(const Plan& plan) {
  for (const JobStart& start : plan.starts) {
    // An item before this one may have found that its lane is not open.
    const int64_t now_ms = context_.clock.boot_ms();
    const std::string sized = sized_lane(start.lane, start.size);
    if (lanes_.is_held(start.lane, now_ms) || sizes_.is_held(sized, now_ms)) continue;
    if (!launch(start)) return;
  }
  for (const Widening& widening : plan.widenings) {
    if (!may_ask()) return;
    guarded("item " + std::to_string(widening.item_id),
            [&] { widener_.widen(widening, snapshot_); });
  }
}

// As users are shown it.
std::string Daemon::why_nothing_starts() const {
  const std::string paused = pause_text(context_.database);
  if (!paused.empty()) return paused;
  if (!launch_pause_.empty()) return launch_pause_;
  const std::string problem = breaker_.problem(context_.clock.boot_ms());
  return problem.empty() && next_.degraded ? next_.problem : problem;
}

// Everything is planned, also what may not be submitted at present: users are shown the plan.
// Without a complete snapshot nothing is added to the cluster.
void Daemon::plan_and_submit(bool complete) {
  if (complete) {
    hardware_.recover();
    launch_pause_.clear();
  }
  next_.busy_slots =
      static_cast<int>(db::QueueStore(context_.database).count_attempts()) + orphans_.occupying();
  // A widened job frees its own slot for the wider one, so that full slots are no obstacle to it.
  const bool submits = complete && !is_paused() && (may_widen(limits_) ? may_ask() : may_submit());
  const bool stopped =
      !complete || is_paused() || !breaker_.pause(context_.clock.boot_ms()).empty();
  if (complete) {
    guarded("facts of the cluster", [this] { widths_.look(limits_); });
    guarded("wider jobs", [this] { widener_.look_again(snapshot_); });
  }
  const LastPlan planned = make_plan(stopped ? why_nothing_starts() : "", submits);
  plans_.publish(planned);
  const auto held = held_lanes();
  const HangingFiles hanging = hanging_files();
  const NotWidened not_widened = widener_.not_widened();
  if (submits) carry_out(planned->plan);
  // What its submissions have met is shown at once.
  const std::string why = why_nothing_starts();
  if (why != planned->plan.pause_reason || held != held_lanes() ||
      not_widened != widener_.not_widened() || !hang_alike(hanging, hanging_files())) {
    plans_.publish(make_plan(why, false));
  }
}

}  // namespace scheduler
