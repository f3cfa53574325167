// Jobs whose items ask for room of their own, and wait in the cluster apart from the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/policy/policy.h"
#include "tests/unit/scheduler/policy/decided.h"

namespace scheduler {
namespace {

using db::Priority;
using testing::ElementsAre;

constexpr int64_t kAnn = 1000, kBob = 2000;

QueueSnapshot on_slurm(std::vector<PlanItem> items) {
  QueueSnapshot snapshot{.now = 1000, .items = std::move(items)};
  snapshot.limits = {
      .slots = 64, .queues = true, .width = {}, .urgent = Width{.nodes = 4, .gpus_per_node = 4}};
  return snapshot;
}

PlanItem roomy(int64_t id, int64_t owner, Priority priority = Priority::kLow) {
  return asking({.id = id, .priority = priority, .owner = owner},
                {.own_options = true, .own_room = true});
}

TEST(PendingApart, AsManyWaitAsOfTheOthersAndOneOfEachFurtherOwner) {
  std::vector<PlanItem> items;
  for (int64_t id = 1; id <= 6; ++id) items.push_back(roomy(id, kAnn));
  for (int64_t id = 7; id <= 9; ++id) items.push_back(roomy(id, kBob));
  QueueSnapshot snapshot = on_slurm(items);
  EXPECT_THAT(started(snapshot), ElementsAre(1, 7, 2, 8)) << "in turn";
  snapshot.pending_apart[{Priority::kLow, kAnn}] = 4;
  EXPECT_THAT(started(snapshot), ElementsAre(7));
  for (const Decided& decision : decided(snapshot)) {
    if (decision.item_id != 1) continue;
    EXPECT_THAT(decision.explanation,
                testing::HasSubstr("4 jobs of class low that ask for nodes, GPUs, processors or "
                                   "memory of their own wait in Slurm already"));
  }
}

TEST(PendingApart, StopsNoOtherJobsAndNoOtherClass) {
  QueueSnapshot snapshot = on_slurm(
      {{.id = 1, .priority = Priority::kLow, .owner = kAnn}, roomy(2, kAnn, Priority::kUrgent)});
  snapshot.pending_apart[{Priority::kLow, kAnn}] = 4;
  EXPECT_THAT(started(snapshot), ElementsAre(2, 1));
}

TEST(PendingApart, RoomOfItsOwnIsNoWayRoundTheLimitOfAClass) {
  QueueSnapshot snapshot = on_slurm({roomy(1, kBob)});
  snapshot.pending[Priority::kLow] = 4;
  EXPECT_THAT(started(snapshot), ElementsAre());
}

// Each would lose its place for nothing.
TEST(PendingApart, OfManyPromotedJobsOnlySomeAreStoppedAtOnce) {
  std::vector<PlanItem> items;
  for (int64_t id = 1; id <= 20; ++id) {
    PlanItem running = roomy(id, kAnn, Priority::kUrgent);
    running.state = db::ItemState::kActive;
    running.width = Width{};
    running.stoppable = true;
    items.push_back(running);
  }
  EXPECT_THAT(widened(on_slurm(items)), ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace scheduler
