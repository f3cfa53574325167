#include "scheduler/policy/floors.h"

#include <algorithm>
#include <cmath>

namespace scheduler {
namespace {

// Whatever its jobs hold at present: each job that it may have counts one GPU.
int usable_gpus(const QueueSnapshot& snapshot) {
  int up = 0;
  for (const NodeForecast& node : snapshot.gpus->likely) up += static_cast<int>(node.size());
  return std::clamp(up - snapshot.gpus->held_by_others, 0, std::max(0, snapshot.limits.slots));
}

}  // namespace

std::optional<double> longest_wait(const Floor& floor, int64_t items_ahead) {
  const double gpus = floor.gpus();
  if (gpus <= 0 || !std::isfinite(floor.first_wait + floor.later_waits)) return std::nullopt;
  const double before = static_cast<double>(items_ahead);
  if (gpus < floor.job_gpus) {
    // One job after the other, each once its share has come out.
    const double turn = floor.job_seconds * floor.job_gpus / gpus;
    return (before + 1) * (turn + std::max(floor.first_wait, floor.later_waits));
  }
  const double at_once = std::floor(gpus / floor.job_gpus);
  const double rounds = std::ceil((before + 1 + static_cast<double>(floor.jobs)) / at_once);
  return floor.first_wait + (rounds - 1) * (floor.job_seconds + floor.later_waits);
}

Floors::Floors(const QueueSnapshot& snapshot) : now_(snapshot.now) {
  if (!snapshot.gpus || snapshot.limits.floors.empty()) return;
  const int usable = usable_gpus(snapshot);
  for (const auto& [priority, share] : snapshot.limits.floors) {
    const auto since = snapshot.idle_since.find(priority);
    floors_[priority] = {.share = share,
                         .usable = usable,
                         .idle_since = since == snapshot.idle_since.end() ? now_ : since->second};
  }
  for (const PlanItem& item : snapshot.items) {
    if (item.state != db::ItemState::kActive || !item.width) continue;
    if (runs_elsewhere(snapshot.limits, item)) continue;
    Floor* floor = of(item.priority);
    if (floor == nullptr) continue;
    if (item.waits && !item.by_floor && !item.stop_asked) {
      ++floor->jobs_waiting;
      continue;
    }
    floor->held += item.width->gpus();
    ++floor->jobs;
    // One that is stopped has nothing until it is submitted anew.
    if (!item.waits || item.by_floor) floor->idle_since = now_;
  }
}

Floor* Floors::of(db::Priority priority) {
  const auto found = floors_.find(priority);
  return found == floors_.end() ? nullptr : &found->second;
}

bool Floors::is_due(db::Priority priority, const Width& width, double seconds) const {
  const auto found = floors_.find(priority);
  if (found == floors_.end() || width.gpus() == 0) return false;
  const Floor& floor = found->second;
  const double gpus = floor.gpus();
  if (gpus <= 0) return false;
  if (gpus >= width.gpus()) return floor.held + width.gpus() <= gpus;
  if (floor.jobs > 0) return false;
  return static_cast<double>(now_ - floor.idle_since) >= seconds * (width.gpus() / gpus - 1);
}

void Floors::take(db::Priority priority, const Width& width) {
  Floor* floor = of(priority);
  if (floor == nullptr) return;
  floor->held += width.gpus();
  ++floor->jobs;
}

}  // namespace scheduler
