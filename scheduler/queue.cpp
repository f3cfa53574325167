#include "scheduler/queue.h"

#include "db/queue.h"

namespace scheduler {
namespace {

std::string gpus(int count) { return std::to_string(count) + (count == 1 ? " GPU" : " GPUs"); }

std::string shape_words(const SlurmOptions& slurm) {
  switch (slurm.shape) {
    case Shape::kCpu:
      return "CPU";
    case Shape::kGpu:
      return gpus(1);
    case Shape::kNode:
      return "1 node (" + gpus(slurm.gpus_per_node) + ")";
    case Shape::kNodes:
      return std::to_string(slurm.nodes) + (slurm.nodes == 1 ? " node (" : " nodes (") +
             gpus(slurm.nodes * slurm.gpus_per_node) + ")";
  }
  return "";
}

bool waits(db::AttemptState state) {
  return state == db::AttemptState::kSubmitting || state == db::AttemptState::kUnknown ||
         state == db::AttemptState::kPending;
}

}  // namespace

ClusterLimits limits_of(const Config& config) {
  if (config.cluster != "slurm") return {.slots = config.local.slots};
  return {.slots = config.slurm.max_jobs,
          .queues = true,
          .max_pending = config.slurm.max_pending,
          .shape = shape_words(config.slurm)};
}

Snapshot read_queue(db::Database& database, int64_t now, const ClusterLimits& limits) {
  Snapshot snapshot;
  snapshot.now = now;
  snapshot.device_slots = limits.slots;
  snapshot.shape = limits.shape;
  snapshot.cluster_queues = limits.queues;
  snapshot.max_pending = limits.max_pending;
  const db::QueueStore queue(database);
  const std::scoped_lock lock(database.mutex());
  std::map<int64_t, db::Priority> classes;
  for (const db::QueuedItem& item : queue.items()) {
    snapshot.items.push_back(
        {item.id, item.priority, item.state, item.cancel_requested, item.created, item.not_before});
    if (item.state == db::ItemState::kActive) classes.emplace(item.id, item.priority);
  }
  for (const db::OpenAttempt& attempt : queue.attempts()) {
    ++snapshot.busy_slots;
    if (waits(attempt.state)) {
      ++snapshot.pending[classes[attempt.item_id]];
    } else {
      ++snapshot.running;
    }
  }
  return snapshot;
}

}  // namespace scheduler
