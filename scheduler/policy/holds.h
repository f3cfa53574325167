// What no job may be submitted for. Pure.
#pragma once

#include <string>
#include <unordered_map>

#include "scheduler/policy/queue_snapshot.h"

namespace scheduler {

// The snapshot must outlive the object; the texts are the snapshot's.
class Holds {
 public:
  explicit Holds(const QueueSnapshot& snapshot) : snapshot_(snapshot) {}

  // Why no job of the item's lane, or of its size there, may be submitted, or none for its files;
  // null when one may.
  const std::string* of(const PlanItem& item);
  // What keeps its micrograph from being read; null: nothing is known.
  const std::string* of_reading(const PlanItem& item) const;

 private:
  const std::string* of_lane(const ItemAsks& asks) const;

  const QueueSnapshot& snapshot_;
  std::unordered_map<const ItemAsks*, const std::string*> lanes_;  // of items that ask the same
};

// Whether its job could be submitted now, were it its turn.
bool is_ready(const PlanItem& item, const QueueSnapshot& snapshot, Holds& holds);

}  // namespace scheduler
