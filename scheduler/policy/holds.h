// What keeps jobs from being submitted. Pure.
#pragma once

#include <string>
#include <unordered_map>

#include "scheduler/policy/queue_snapshot.h"

namespace scheduler {

// The snapshot, which owns the texts, must outlive the object.
class Holds {
 public:
  explicit Holds(const QueueSnapshot& snapshot) : snapshot_(snapshot) {}

  // Why no job of the item's lane, or of its size in that lane, may be submitted, or why its files
  // keep it from that; null when one may.
  const std::string* of(const PlanItem& item);
  // Why its micrograph cannot be read now; null: nothing is known.
  const std::string* of_reading(const PlanItem& item) const;

 private:
  const std::string* of_lane(const ItemAsks& asks) const;

  const QueueSnapshot& snapshot_;
  std::unordered_map<const ItemAsks*, const std::string*> lanes_;  // by what items ask for
};

// Whether its job could be submitted now if it were its turn.
bool is_ready(const PlanItem& item, const QueueSnapshot& snapshot, Holds& holds);

}  // namespace scheduler
