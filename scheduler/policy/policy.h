// Which item runs next, and why: a pure function of a snapshot, without clock, database or network.
//
// The rules: class before class, within a class the owners in turn, the oldest of each first, as
// many jobs as the cluster takes from Margay. Each job has the site's width, one device or one
// node. Urgent items get the site's urgent width, several nodes, and one that was promoted while it
// ran on less is stopped with a checkpoint and resumed there. Where jobs wait in the cluster's own
// queue, only a few of each class wait there; the rest waits here, where an urgent item can still
// pass it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "db/records.h"
#include "scheduler/config/width.h"
#include "scheduler/policy/queue_snapshot.h"

namespace scheduler {

enum class Verdict {
  kStart,
  kWait,
  kRuns,
  kWiden,  // runs on less than it gets: stop it with a checkpoint
  kHeld
};

struct Decision {
  int64_t item_id = 0;
  Verdict verdict = Verdict::kWait;
  // For kStart, what it gets. For a running item, what it gets instead; empty when it stays.
  std::optional<Width> width{};
  std::string lane{};  // for kStart, with the size
  std::string size{};
  db::Priority priority = db::Priority::kNormal;
  std::optional<int64_t> apart{};  // for kStart, its owner if its job is one of pending_apart
  int ahead = 0;                   // for kWait: items that go first
  std::string explanation{};       // one sentence for the user
};

bool has_ended(db::ItemState state);

// The classes of which ready items wait only because as many jobs wait in the cluster as may.
std::set<db::Priority> full_classes(const QueueSnapshot& snapshot);

// One decision for each item that has not ended: first the ready ones in their order, then those
// that wait for a time, run, or are held.
std::vector<Decision> plan(const QueueSnapshot& snapshot);

}  // namespace scheduler
