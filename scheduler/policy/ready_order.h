// Which ready item of a class goes first: that of the group that has used the least of the GPUs for
// its share, then that of the owner with the fewest jobs, then the one with the least time to spare
// before its deadline, then the oldest. Pure.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "scheduler/policy/deadlines.h"
#include "scheduler/policy/fair_share.h"
#include "scheduler/policy/queue_snapshot.h"

namespace scheduler {

// An item and the number of its decision in the plan.
struct Entry {
  const PlanItem* item = nullptr;
  uint32_t decision = 0;
  int32_t turn = 0;
};

class ReadyOrder {
 public:
  // The snapshot and the deadlines must outlive this.
  ReadyOrder(const QueueSnapshot& snapshot, Deadlines& deadlines)
      : snapshot_(snapshot), deadlines_(deadlines), groups_(snapshot.groups) {}

  // Counts an item with a job: its owner and its group have had a turn.
  void count_job(const PlanItem& item);
  void put_in_order(std::vector<Entry>& of_class, bool has_deadlines);

  bool has_groups() const { return groups_.size() > 1; }
  // What each group has used, the counted jobs included.
  const std::vector<GroupUse>& groups() const { return groups_; }
  double use_of(int group) const;

 private:
  double expected_gpu_seconds(const PlanItem& item) const;
  void count_use(const PlanItem& item);
  void groups_take_turns(std::vector<Entry>& of_class) const;

  const QueueSnapshot& snapshot_;
  Deadlines& deadlines_;
  std::vector<GroupUse> groups_;
  std::unordered_map<int64_t, int32_t> jobs_{};  // running and waiting jobs, by owner
};

}  // namespace scheduler
