// The width of urgent items, and the stop of a job that is to resume with it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/policy/example_limits.h"
#include "tests/unit/scheduler/policy/plan_items.h"

namespace scheduler {
namespace {

using db::ItemState;
using db::Priority;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Width kOneGpu{};

QueueSnapshot with_wide_jobs(std::vector<PlanItem> items, int slots = 100) {
  QueueSnapshot snapshot = queueing(std::move(items), slots);
  snapshot.limits.width = kOneGpu;
  snapshot.limits.urgent = kFourNodes;
  return snapshot;
}

PlanItem running(int64_t id, Priority priority, const Width& width = kOneGpu) {
  PlanItem item{.id = id, .priority = priority, .state = ItemState::kActive};
  item.width = width;
  item.stoppable = true;
  return item;
}

TEST(UrgentWidths, AnUrgentItemGetsSeveralNodesAndNoOtherClassDoes) {
  const QueueSnapshot snapshot =
      with_wide_jobs({item(1, Priority::kUrgent), item(2, Priority::kHigh),
                      item(3, Priority::kNormal), item(4, Priority::kLow)});
  for (const Decided& decision : decided(snapshot)) {
    const bool urgent = decision.item_id == 1;
    EXPECT_EQ(decision.width, urgent ? kFourNodes : kOneGpu) << decision.item_id;
    EXPECT_THAT(decision.explanation,
                HasSubstr(urgent ? "so it gets 4 nodes (16 GPUs), since it is urgent"
                                 : "so it gets 1 GPU, since only urgent items get 4 nodes (16 "
                                   "GPUs)"));
  }
}

TEST(UrgentWidths, WithoutAShapeOfTheirOwnUrgentItemsGetWhatAllGet) {
  QueueSnapshot snapshot = with_wide_jobs({item(1, Priority::kUrgent)});
  snapshot.limits.urgent.reset();
  EXPECT_EQ(decided(snapshot)[0].width, kOneGpu);
  EXPECT_THAT(decided(snapshot)[0].explanation, testing::EndsWith("so it gets 1 GPU"));
  snapshot.items = {running(1, Priority::kUrgent)};
  EXPECT_THAT(widened(snapshot), IsEmpty());
}

TEST(UrgentWidths, AnItemThatWasPromotedIsStoppedAndResumesWide) {
  const QueueSnapshot snapshot =
      with_wide_jobs({running(1, Priority::kUrgent), running(2, Priority::kNormal),
                      running(3, Priority::kUrgent, kFourNodes)});
  EXPECT_THAT(widened(snapshot), ElementsAre(1));
  EXPECT_EQ(explanation(snapshot, 1),
            "has 1 GPU, and urgent items get 4 nodes (16 GPUs): it is stopped with a checkpoint "
            "and resumes with those");
}

TEST(UrgentWidths, AJobIsStoppedOnce) {
  QueueSnapshot snapshot = with_wide_jobs({running(1, Priority::kUrgent)});
  snapshot.items[0].stop_asked = true;
  EXPECT_THAT(widened(snapshot), IsEmpty());
  EXPECT_EQ(explanation(snapshot, 1),
            "stopping with a checkpoint, to resume with 4 nodes (16 GPUs)");
  snapshot.items[0].stop_asked = false;
  snapshot.items[0].stoppable = false;
  EXPECT_THAT(widened(snapshot), IsEmpty()) << "nobody knows its job, or it is ending";
}

TEST(UrgentWidths, AnUrgentItemThatHasAsMuchOrSaysItselfHowMuchIsLeftAlone) {
  EXPECT_THAT(widened(with_wide_jobs({running(1, Priority::kUrgent, kFourNodes)})), IsEmpty());
  const Width more{.nodes = 8, .gpus_per_node = 4};
  EXPECT_THAT(widened(with_wide_jobs({running(1, Priority::kUrgent, more)})), IsEmpty());
  const PlanItem modest = running(1, Priority::kUrgent);
  EXPECT_THAT(widened(with_wide_jobs({modest})), ElementsAre(1));
  EXPECT_THAT(widened(with_wide_jobs({asking(modest, {.own_width = true})})), IsEmpty());
}

TEST(UrgentWidths, NothingIsStoppedThatCouldNotBeSubmittedAgain) {
  QueueSnapshot snapshot = with_wide_jobs({running(1, Priority::kUrgent)});
  snapshot.pause_reason = "the disk is full";
  EXPECT_THAT(widened(snapshot), IsEmpty());
  EXPECT_THAT(explanation(snapshot, 1),
              HasSubstr("as soon as jobs are submitted again (the disk is full)"));
  snapshot.pause_reason.clear();
  snapshot.pending[Priority::kUrgent] = 4;
  EXPECT_THAT(widened(snapshot), IsEmpty());
  EXPECT_THAT(explanation(snapshot, 1),
              HasSubstr("as soon as fewer than 4 jobs of class urgent wait in Slurm"));
  snapshot.items[0].waits = true;
  EXPECT_THAT(widened(snapshot), ElementsAre(1)) << "it gives its own place up";
}

TEST(UrgentWidths, OfManyThatWerePromotedAsManyAreStoppedAsMayWait) {
  std::vector<PlanItem> items;
  for (int64_t id = 1; id <= 6; ++id) items.push_back(running(id, Priority::kUrgent));
  items.push_back(item(7, Priority::kUrgent));
  EXPECT_THAT(widened(with_wide_jobs(items)), ElementsAre(1, 2, 3)) << "the fourth place is 7's";
}

}  // namespace
}  // namespace scheduler
