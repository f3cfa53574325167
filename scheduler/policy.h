// Which item runs next, and why: a pure function of what is known, without clock, database or
// network. Its rules so far: class before class, in a class the oldest first, one device per job,
// as many jobs as the cluster has device slots.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/records.h"

namespace scheduler {

struct PlanItem {
  int64_t id = 0;
  db::Priority priority = db::Priority::kNormal;
  db::ItemState state = db::ItemState::kQueued;
  bool cancel_requested = false;
  int64_t created = 0;
  int64_t not_before = 0;
};

struct Snapshot {
  int64_t now = 0;
  int device_slots = 0;
  int busy_slots = 0;
  std::string lane_hold;          // why nothing may be submitted, empty = it may
  std::vector<PlanItem> items{};  // ended ones are ignored
};

enum class Verdict { kStart, kWait, kRuns, kHeld };

struct Decision {
  int64_t item_id = 0;
  Verdict verdict = Verdict::kWait;
  std::string shape{};        // of kStart: "1 device"
  int ahead = 0;              // items that go first, of kWait
  std::string explanation{};  // one sentence for the user
};

// One decision for each item that has not ended: ready ones in the order in which they go, then
// those that wait for a time, run, or are held.
std::vector<Decision> plan(const Snapshot& snapshot);

}  // namespace scheduler
