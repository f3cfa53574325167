// The floors of the classes: the share of the GPUs that the items of a class get whatever waits
// above them. Pure.
//
// A share is one of the GPUs that Margay may really use: those that its jobs hold or may still get,
// not those of other people, and no more than `max_jobs` can use. A class whose jobs hold less than
// its floor goes first with its next item. A floor that is less than one job's GPUs is kept in
// time: a job becomes due once the class has held nothing for so long that its share comes out.
// Nothing adds up while a class has no use for its floor.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>

#include "scheduler/config/width.h"
#include "scheduler/policy/queue_snapshot.h"

namespace scheduler {

// Of one class, at the time of the plan.
struct Floor {
  double share = 0;  // 0: none
  int usable = 0;    // GPUs that Margay may use
  int held = 0;      // of these, by the class's jobs that run, or wait or are submitted anew
                     // because of the floor
  int64_t jobs = 0;  // that hold these
  int64_t jobs_waiting = 0;  // that wait in the cluster among those of the class
  int64_t idle_since = 0;    // since when the class holds nothing although items of it are ready
  // Of its next item's job, for the bound:
  int job_gpus = 1;
  double job_seconds = 0;  // not passed with 90 % certainty
  // Seconds until its GPUs are free, with 90 % certainty, and the same for the items after it.
  double first_wait = std::numeric_limits<double>::infinity();
  double later_waits = 0;

  double gpus() const { return share * usable; }
};

// Seconds until the start of an item behind so many of its class that the floor guarantees, judging
// by what is known now; nullopt: there is no bound.
std::optional<double> longest_wait(const Floor& floor, int64_t items_ahead);

class Floors {
 public:
  // No class has a floor where the free GPUs are not known. The snapshot must outlive this.
  explicit Floors(const QueueSnapshot& snapshot);

  // Whether the class's next job, of this width and so many seconds (of a segment, where its search
  // is cut into such), goes before those of higher classes.
  bool is_due(db::Priority priority, const Width& width, double seconds) const;
  // A job of the class is submitted for its floor, or stopped to be submitted anew for it. What it
  // saved up is spent once the cluster has the job.
  void take(db::Priority priority, const Width& width);
  // null: the class has no floor.
  Floor* of(db::Priority priority);
  const std::map<db::Priority, Floor>& all() const { return floors_; }

 private:
  int64_t now_ = 0;
  std::map<db::Priority, Floor> floors_;
};

}  // namespace scheduler
