// Items with deadlines: which goes first, and which may be late. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "scheduler/policy/queue_snapshot.h"

namespace scheduler {

class Deadlines {
 public:
  // The snapshot must outlive this.
  explicit Deadlines(const QueueSnapshot& snapshot) : snapshot_(snapshot) {}

  // Seconds that the search takes at most, with 90 % certainty, at the fastest width that the
  // item's class may have for a deadline; for an item with a job, what is left of that at the job's
  // width. nullopt: not known, as for every job of the item after the first, which may have resumed
  // from a checkpoint. The daemon knows the time only where the policy chooses widths.
  std::optional<int64_t> least_seconds(const PlanItem& item);
  // When the item must start to be done in time, seconds since the epoch; the earlier, the sooner
  // it goes. If the time of its search is not known, this is the deadline itself.
  int64_t latest_start(const PlanItem& item);

 private:
  const SearchTime* time_of(const PlanItem& item) const;
  std::optional<int64_t> fastest(db::Priority priority, const SearchTime& time, double left) const;

  const QueueSnapshot& snapshot_;
  // By class and PlanItem::kind.
  std::map<std::pair<db::Priority, int>, std::optional<int64_t>> fastest_;
};

}  // namespace scheduler
