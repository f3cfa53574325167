// The floors of the classes: the share of the GPUs that the items of a class get even while more
// urgent items wait. Pure.
//
// A share refers to the GPUs that Margay can really use: those that its jobs hold or may still get,
// not those of other people, and no more than `max_jobs` can use. A class whose jobs hold less than
// its floor goes first with its next item. A floor below one job's GPUs is averaged over time: a
// job becomes due once the class has held nothing for long enough to be owed it. Nothing
// accumulates while a class has no ready items.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>

#include "scheduler/config/width.h"
#include "scheduler/policy/queue_snapshot.h"

namespace scheduler {

// One class's floor at the time of the plan.
struct Floor {
  double share = 0;  // 0: none
  int usable = 0;    // GPUs that Margay may use
  // GPUs held by the class's jobs that run, or that wait or are resubmitted because of the floor.
  int held = 0;
  int64_t jobs = 0;          // jobs that hold these GPUs
  int64_t jobs_waiting = 0;  // jobs that wait in the cluster among those of the class
  // Since when the class holds nothing although items of it are ready; seconds since the epoch.
  int64_t idle_since = 0;
  // For the bound: the next item's job.
  int job_gpus = 1;
  double job_seconds = 0;  // not exceeded with 90 % certainty
  // Seconds until its GPUs are free, with 90 % certainty, and the same for the items after it.
  double first_wait = std::numeric_limits<double>::infinity();
  double later_waits = 0;

  double gpus() const { return share * usable; }
};

// Seconds within which the floor guarantees the start of an item with `items_ahead` items of its
// class before it, as far as is known now; nullopt: there is no bound.
std::optional<double> longest_wait(const Floor& floor, int64_t items_ahead);

class Floors {
 public:
  // No class has a floor while the free GPUs are not known. The snapshot must outlive this.
  explicit Floors(const QueueSnapshot& snapshot);

  // Whether the class's next job, with this width and duration in seconds (of a segment, if its
  // search runs in segments), goes before those of higher classes.
  bool is_due(db::Priority priority, const Width& width, double seconds) const;
  // Counts a job of the class as submitted for its floor, or as stopped to be resubmitted for it.
  // The time that the class has saved up is spent once the cluster has the job.
  void take(db::Priority priority, const Width& width);
  // null: the class has no floor.
  Floor* of(db::Priority priority);
  const std::map<db::Priority, Floor>& all() const { return floors_; }

 private:
  int64_t now_ = 0;
  std::map<db::Priority, Floor> floors_;
};

}  // namespace scheduler
