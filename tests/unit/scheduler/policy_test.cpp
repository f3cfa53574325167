#include "scheduler/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace scheduler {
namespace {

using db::ItemState;
using db::Priority;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

PlanItem item(int64_t id, Priority priority, int64_t created = 0) {
  return {.id = id, .priority = priority, .created = created};
}

Snapshot snapshot_of(std::vector<PlanItem> items, int slots, int busy = 0) {
  Snapshot snapshot;
  snapshot.now = 1000;
  snapshot.device_slots = slots;
  snapshot.busy_slots = busy;
  snapshot.items = std::move(items);
  return snapshot;
}

std::vector<int64_t> started(const Snapshot& snapshot) {
  std::vector<int64_t> ids;
  for (const Decision& decision : plan(snapshot)) {
    if (decision.verdict == Verdict::kStart) ids.push_back(decision.item_id);
  }
  return ids;
}

std::string explanation(const Snapshot& snapshot, int64_t id) {
  for (const Decision& decision : plan(snapshot)) {
    if (decision.item_id == id) return decision.explanation;
  }
  return "no decision";
}

TEST(Policy, ClassGoesBeforeClassWhateverTheAge) {
  EXPECT_THAT(started(snapshot_of({item(1, Priority::kLow, 1), item(2, Priority::kNormal, 2),
                                   item(3, Priority::kHigh, 3), item(4, Priority::kUrgent, 4),
                                   item(5, Priority::kLive, 5)},
                                  5)),
              ElementsAre(5, 4, 3, 2, 1));
}

TEST(Policy, InAClassTheOldestGoesFirstAndThenTheLowestNumber) {
  EXPECT_THAT(started(snapshot_of({item(7, Priority::kNormal, 30), item(8, Priority::kNormal, 10),
                                   item(9, Priority::kNormal, 20), item(6, Priority::kNormal, 20)},
                                  4)),
              ElementsAre(8, 6, 9, 7));
}

TEST(Policy, OnlyFreeSlotsAreGivenAway) {
  const std::vector<PlanItem> items = {item(1, Priority::kNormal), item(2, Priority::kNormal),
                                       item(3, Priority::kNormal)};
  EXPECT_THAT(started(snapshot_of(items, 4, 2)), ElementsAre(1, 2));
  EXPECT_THAT(started(snapshot_of(items, 4, 4)), IsEmpty());
  // Fewer slots than jobs run: the site has made them fewer.
  EXPECT_THAT(started(snapshot_of(items, 1, 3)), IsEmpty());
}

TEST(Policy, EachJobGetsOneDevice) {
  for (const Decision& decision :
       plan(snapshot_of({item(1, Priority::kUrgent), item(2, Priority::kLow)}, 8))) {
    EXPECT_EQ(decision.shape, "1 device");
  }
}

TEST(Policy, HeldActiveCancelledAndEndedItemsAreNotStarted) {
  std::vector<PlanItem> items;
  for (const ItemState state :
       {ItemState::kHeld, ItemState::kActive, ItemState::kDone, ItemState::kFailed,
        ItemState::kCancelled, ItemState::kQuarantined, ItemState::kQueued}) {
    PlanItem one = item(static_cast<int64_t>(items.size()) + 1, Priority::kUrgent);
    one.state = state;
    items.push_back(one);
  }
  items.back().cancel_requested = true;
  const Snapshot snapshot = snapshot_of(items, 10);
  EXPECT_THAT(started(snapshot), IsEmpty());
  EXPECT_EQ(plan(snapshot).size(), 3u) << "ended items need no decision";
}

TEST(Policy, ASpacedRetryWaitsForItsTimeAndIsPassed) {
  PlanItem later = item(1, Priority::kUrgent);
  later.not_before = 1060;
  Snapshot snapshot = snapshot_of({later, item(2, Priority::kLow)}, 1);
  EXPECT_THAT(started(snapshot), ElementsAre(2));
  EXPECT_EQ(explanation(snapshot, 1), "waits 60 seconds more before it is tried again");
  snapshot.now = 1060;
  EXPECT_THAT(started(snapshot), ElementsAre(1));
}

TEST(Policy, SaysWhatIsAheadOfAWaitingItem) {
  const Snapshot snapshot = snapshot_of({item(1, Priority::kHigh), item(2, Priority::kHigh),
                                         item(3, Priority::kNormal), item(4, Priority::kLow)},
                                        1, 1);
  EXPECT_EQ(explanation(snapshot, 4),
            "waits: 3 items before it (2 high, 1 normal); 1 of 1 device slot busy");
  EXPECT_EQ(explanation(snapshot, 1), "waits: next in the queue; 1 of 1 device slot busy");
}

TEST(Policy, SaysWhyAnItemStarts) {
  EXPECT_EQ(explanation(snapshot_of({item(1, Priority::kHigh), item(2, Priority::kHigh)}, 2, 1), 1),
            "oldest of 2 ready items of class high and no higher class waits; 1 of 2 device slots "
            "busy, so it gets 1 device");
}

TEST(Policy, AHeldLaneStartsNothingAndSaysWhy) {
  Snapshot snapshot = snapshot_of({item(1, Priority::kUrgent)}, 1);
  snapshot.lane_hold = "the disk is full";
  EXPECT_THAT(started(snapshot), IsEmpty());
  EXPECT_THAT(explanation(snapshot, 1), HasSubstr("the disk is full"));
}

TEST(Policy, TheSameSnapshotGivesTheSameDecisionsInAnyOrderOfItems) {
  std::vector<PlanItem> items;
  for (int i = 1; i <= 12; ++i) {
    items.push_back(item(i, static_cast<Priority>(i % 5), (i * 7) % 4));
  }
  const auto forwards = started(snapshot_of(items, 12));
  std::reverse(items.begin(), items.end());
  EXPECT_EQ(started(snapshot_of(items, 12)), forwards);
}

}  // namespace
}  // namespace scheduler
