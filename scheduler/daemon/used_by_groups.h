// What a plan needs to share the GPUs between groups: each group's use and share. It is kept in
// memory between ticks: after the first look, only attempts that ended since the last look are
// read. Not thread-safe; only the tick uses it.
#pragma once

#include <cstdint>
#include <vector>

#include "db/used_gpus.h"
#include "scheduler/daemon/context.h"
#include "scheduler/policy/fair_share.h"
#include "scheduler/policy/queue_snapshot.h"

namespace scheduler {

class UsedByGroups {
 public:
  explicit UsedByGroups(const DaemonContext& context) : context_(context) {}

  // Adds groups and their use. Reads nothing while all items of the queue belong to one group.
  // Throws db::DatabaseError.
  void add_to(QueueSnapshot& snapshot);

 private:
  void look(int64_t now);
  void add(const std::vector<db::UsedGpus>& attempts, int64_t now);

  const DaemonContext& context_;
  DecayedUse used_{};
  bool has_looked_ = false;
  int64_t looked_at_ = 0;        // seconds since the epoch
  int64_t newest_ = 0;           // the newest attempt at the last look
  std::vector<int64_t> open_{};  // attempts open then, in ascending order
};

}  // namespace scheduler
