// Which item runs next, and why: a pure function of what is known, without clock, database or
// network. Its rules so far: class before class, in a class the oldest first, as many jobs as the
// cluster may have of ours. Each job has the site's shape, one device or one node; urgent items get
// the site's shape for those, several nodes, and one that was promoted while it ran on less is
// stopped with a checkpoint to go on there. Where jobs wait in the cluster's own queue only a few
// of each class do; the rest waits here, where an urgent one can still pass it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
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
  // Of its open attempt:
  std::string shape{};  // as the decision said it
  int gpus = 0;
  bool stoppable = false;   // it waits in the cluster, or runs
  bool waits = false;       // in the cluster
  bool stop_asked = false;  // for a checkpoint, to go on elsewhere
};

// What one job gets.
struct ShapeOffer {
  std::string name{};  // of its script template, "gpu"; none on this machine alone
  std::string text{};  // "1 device", "4 nodes (16 GPUs)"
  int gpus = 0;
};

// What the site lets us have of its cluster.
struct ClusterLimits {
  int slots = 1;        // jobs of ours at once
  bool queues = false;  // more of them than run may wait in the cluster's own queue
  int max_pending = 0;  // waiting there for each class; 0: max(4, running / 4)
  ShapeOffer shape{.text = "1 device"};
  std::optional<ShapeOffer> urgent{};  // of urgent items, where it is another
};

struct Snapshot {
  int64_t now = 0;
  int device_slots = 0;
  int busy_slots = 0;
  std::string pause_reason;       // why nothing may be submitted, empty = it may
  std::vector<PlanItem> items{};  // ended ones are ignored
  ShapeOffer shape{.text = "1 device"};
  std::optional<ShapeOffer> urgent{};
  // Where the cluster queues:
  bool cluster_queues = false;
  int max_pending = 0;
  int running = 0;                        // jobs of ours
  std::map<db::Priority, int> pending{};  // jobs of ours that wait there, or will again
};

enum class Verdict {
  kStart,
  kWait,
  kRuns,
  kWiden,  // runs on less than it gets: is to be stopped with a checkpoint
  kHeld
};

struct Decision {
  int64_t item_id = 0;
  Verdict verdict = Verdict::kWait;
  // Of kStart: what it gets. Of one that runs: what it is to get instead; none: it stays.
  std::optional<ShapeOffer> shape{};
  int ahead = 0;              // items that go first, of kWait
  std::string explanation{};  // one sentence for the user
};

bool has_ended(db::ItemState state);

// One decision for each item that has not ended: ready ones in the order in which they go, then
// those that wait for a time, run, or are held.
std::vector<Decision> plan(const Snapshot& snapshot);

}  // namespace scheduler
