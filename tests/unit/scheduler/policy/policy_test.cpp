#include "scheduler/policy/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/policy/plan_items.h"

namespace scheduler {
namespace {

using db::ItemState;
using db::Priority;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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

PlanItem owned(int64_t id, int64_t owner, int64_t created, ItemState state = ItemState::kQueued) {
  return {
      .id = id, .priority = Priority::kNormal, .state = state, .created = created, .owner = owner};
}

TEST(Policy, InAClassTheOwnersTakeTurns) {
  const std::vector<PlanItem> items = {owned(1, 1000, 1), owned(2, 1000, 2), owned(3, 1000, 3),
                                       owned(4, 1001, 4), owned(5, 1001, 5), owned(6, 1002, 6)};
  EXPECT_THAT(started(snapshot_of(items, 9)), ElementsAre(1, 4, 6, 2, 5, 3));
  EXPECT_THAT(explanation(snapshot_of(items, 9), 4),
              HasSubstr("its owner's turn among 5 ready items of class normal"));
}

TEST(Policy, WhoHasJobsWaitsForThoseWhoHaveNone) {
  EXPECT_THAT(started(snapshot_of({owned(1, 1000, 1, ItemState::kActive), owned(2, 1000, 2),
                                   owned(3, 1001, 3), owned(4, 1001, 4)},
                                  9)),
              ElementsAre(3, 2, 4));
}

TEST(Policy, AHeldPlainLaneHoldsNoOtherLane) {
  const PlanItem elsewhere = asking(item(2, Priority::kNormal, 2), {.lane = "partition=cpu"});
  QueueSnapshot snapshot = snapshot_of({item(1, Priority::kNormal, 1), elsewhere}, 9);
  snapshot.held_lanes = {{"", "partition=gpu is paused by root"}};
  EXPECT_THAT(started(snapshot), ElementsAre(2));
  EXPECT_EQ(explanation(snapshot, 1), "waits: partition=gpu is paused by root");
}

TEST(Policy, FilesThatCannotBeLookedAtHoldTheirOwnersItemsAndThoseOfTheirTemplate) {
  PlanItem unread = owned(2, 1001, 2);
  unread.unread = true;
  PlanItem with_volume = owned(3, 1002, 3);
  with_volume.template_id = 7;
  QueueSnapshot snapshot =
      snapshot_of({owned(1, 1000, 1), unread, with_volume, owned(4, 1001, 4)}, 9);
  snapshot.hanging_files = {.micrographs = {{1000, "the file system of '/a' has not answered"}},
                            .unread = {{1001, "the file system of '/b' has not answered"}},
                            .volumes = {{7, "the file system of '/v' has not answered"}}};
  EXPECT_THAT(started(snapshot), ElementsAre(4));
  EXPECT_EQ(explanation(snapshot, 1), "waits: the file system of '/a' has not answered");
  EXPECT_EQ(explanation(snapshot, 2),
            "waits: its micrograph is being read, or those of items before it; the file system of "
            "'/b' has not answered");
  EXPECT_EQ(explanation(snapshot, 3), "waits: the file system of '/v' has not answered");
}

TEST(Policy, WhileOneJobProbesForAllPlainItemsGoFirst) {
  const PlanItem later = asking(item(1, Priority::kUrgent, 1), {.own_options = true});
  const PlanItem elsewhere = asking(item(2, Priority::kHigh, 2), {.lane = "qos=short"});
  QueueSnapshot snapshot =
      snapshot_of({later, elsewhere, item(3, Priority::kLow, 3), item(4, Priority::kNormal, 4)}, 1);
  EXPECT_THAT(started(snapshot), ElementsAre(1));
  snapshot.probing = true;
  EXPECT_THAT(started(snapshot), ElementsAre(4));
  EXPECT_THAT(explanation(snapshot, 4), HasSubstr("is tried first, to see whether jobs run again"));
  snapshot.limits.slots = 9;
  EXPECT_THAT(started(snapshot), ElementsAre(4, 3, 1, 2)) << "if the first cannot be submitted";
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
  for (const Decided& decision :
       decided(snapshot_of({item(1, Priority::kUrgent), item(2, Priority::kLow)}, 8))) {
    EXPECT_EQ(decision.width, Width{.gpus_per_node = 0});
    EXPECT_THAT(decision.explanation, HasSubstr("so it gets 1 device"));
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
  const QueueSnapshot snapshot = snapshot_of(items, 10);
  EXPECT_THAT(started(snapshot), IsEmpty());
  EXPECT_EQ(decided(snapshot).size(), 3u) << "ended items need no decision";
}

TEST(Policy, AnItemIsReadyOnlyOnceItsMicrographWasRead) {
  PlanItem unread = item(1, Priority::kUrgent, 1);
  unread.unread = true;
  QueueSnapshot snapshot = snapshot_of({unread, item(2, Priority::kLow, 2)}, 1);
  EXPECT_THAT(started(snapshot), ElementsAre(2));
  EXPECT_THAT(explanation(snapshot, 1), HasSubstr("its micrograph is being read"));
  snapshot.items[0].unread = false;
  EXPECT_THAT(started(snapshot), ElementsAre(1));
}

TEST(Policy, AnItemOfALaneThatIsHeldIsPassedAndSaysWhy) {
  const PlanItem own = asking(item(1, Priority::kUrgent), {.lane = "qos=short"});
  QueueSnapshot snapshot = snapshot_of({own, item(2, Priority::kLow)}, 1);
  EXPECT_THAT(started(snapshot), ElementsAre(1));
  snapshot.held_lanes = {{"qos=short", "its limit is reached"}};
  EXPECT_THAT(started(snapshot), ElementsAre(2));
  EXPECT_EQ(explanation(snapshot, 1), "waits: its limit is reached");
}

TEST(Policy, ASizeIsHeldInItsLaneOnly) {
  const PlanItem plain = asking(item(1, Priority::kUrgent), {.size = "time=10"});
  const PlanItem own = asking(item(2, Priority::kLow), {.lane = "qos=long", .size = "time=10"});
  QueueSnapshot snapshot = snapshot_of({plain, own}, 1);
  snapshot.held_lanes = {{"time=10", "too long"}};
  EXPECT_THAT(started(snapshot), ElementsAre(2));
  snapshot.held_lanes = {{"qos=long with time=10", "too long there"}};
  EXPECT_THAT(started(snapshot), ElementsAre(1));
  EXPECT_EQ(explanation(snapshot, 2), "waits: too long there");
}

TEST(Policy, ASpacedRetryWaitsForItsTimeAndIsPassed) {
  PlanItem later = item(1, Priority::kUrgent);
  later.not_before = 1060;
  QueueSnapshot snapshot = snapshot_of({later, item(2, Priority::kLow)}, 1);
  EXPECT_THAT(started(snapshot), ElementsAre(2));
  EXPECT_EQ(explanation(snapshot, 1), "waiting 60 seconds before a retry");
  snapshot.now = 1060;
  EXPECT_THAT(started(snapshot), ElementsAre(1));
}

TEST(Policy, AWaitingItemShowsWhatIsAheadOfIt) {
  const QueueSnapshot snapshot = snapshot_of({item(1, Priority::kHigh), item(2, Priority::kHigh),
                                              item(3, Priority::kNormal), item(4, Priority::kLow)},
                                             1, 1);
  EXPECT_EQ(explanation(snapshot, 4),
            "waits: 3 items before it (2 high, 1 normal); 1 of 1 device slot busy");
  EXPECT_EQ(explanation(snapshot, 1), "waits: next in the queue; 1 of 1 device slot busy");
}

TEST(Policy, AStartedItemShowsWhy) {
  EXPECT_EQ(explanation(snapshot_of({item(1, Priority::kHigh), item(2, Priority::kHigh)}, 2, 1), 1),
            "first of 2 ready items of class high and no higher class waits; 1 of 2 device slots "
            "busy, so it gets 1 device");
}

TEST(Policy, PausedSubmissionsStartNothingAndGiveTheReason) {
  QueueSnapshot snapshot = snapshot_of({item(1, Priority::kUrgent)}, 1);
  snapshot.pause_reason = "the disk is full";
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
