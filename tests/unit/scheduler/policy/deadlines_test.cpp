#include "scheduler/policy/deadlines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/policy/decided.h"
#include "tests/unit/scheduler/policy/example_cluster.h"

namespace scheduler {
namespace {

using db::ItemState;
using db::Priority;
using testing::ElementsAre;

constexpr int64_t kToday = 1'000'000;
constexpr int64_t kAnHour = 3600;

class DeadlinesTest : public testing::Test {
 protected:
  DeadlinesTest() {
    snapshot_.now = kToday;
    snapshot_.limits = {.slots = 1000, .queues = true, .max_pending = 1000};
    snapshot_.limits.width = Width{.gpus_per_node = 1};
    snapshot_.kinds = {{.template_id = 1}, {.template_id = 2}};
    // 16 GPU hours, and what is not known.
    snapshot_.times = {SearchTime{.work = 16 * kAnHour, .model = example_model()}, std::nullopt};
  }
  PlanItem& add(int64_t finish_by = 0, int kind = 0) {
    const auto id = static_cast<int64_t>(snapshot_.items.size()) + 1;
    snapshot_.items.push_back(
        {.id = id, .kind = kind, .created = id, .owner = 1, .finish_by = finish_by});
    return snapshot_.items.back();
  }
  void widths_are_chosen() {
    const Width node{.gpus_per_node = 4};
    snapshot_.limits.menu = widths_of(4, kExampleNodes);
    snapshot_.limits.classes = {
        {Priority::kNormal, {Width{}, Width{}, node, 0.97}},
        {Priority::kHigh, {Width{}, node, {.nodes = 4, .gpus_per_node = 4}, 0.80}}};
  }
  double ninety_percent(const Width& width) const {
    const SearchTime& time = *snapshot_.times[0];
    return bounded(run_seconds(time.model, time.work, width), time.model, kNinetyPercent);
  }

  QueueSnapshot snapshot_;
};

TEST_F(DeadlinesTest, OfAnOwnersItemsThoseWithTheLeastTimeToSpareGoFirstThenTheOldest) {
  add();
  add(kToday + 90 * kAnHour);
  add(kToday + 80 * kAnHour);
  add();
  EXPECT_THAT(started(snapshot_), ElementsAre(3, 2, 1, 4));
}

TEST_F(DeadlinesTest, WhatTakesLongHasLessTimeToSpare) {
  add(kToday + 80 * kAnHour, 1);
  add(kToday + 90 * kAnHour, 0);  // it takes more than 16 hours, the other's time is not known
  EXPECT_THAT(started(snapshot_), ElementsAre(2, 1));
}

TEST_F(DeadlinesTest, ADeadlineCrossesNoClassAndTakesNoOtherOwnersTurn) {
  snapshot_.limits.slots = 3;
  add();
  add(kToday + kAnHour).owner = 2;
  add(kToday + 2 * kAnHour).owner = 2;
  add().priority = Priority::kHigh;
  EXPECT_THAT(started(snapshot_), ElementsAre(4, 2, 1));
}

TEST_F(DeadlinesTest, AnItemIsForecastAtTheFastestWidthOfItsClassForADeadline) {
  widths_are_chosen();
  PlanItem& item = add(kToday + 1);
  Deadlines deadlines(snapshot_);
  EXPECT_NEAR(deadlines.least_seconds(item).value(), ninety_percent({.gpus_per_node = 4}), 1);
  item.priority = Priority::kHigh;
  EXPECT_NEAR(deadlines.least_seconds(item).value(),
              ninety_percent({.nodes = 4, .gpus_per_node = 4}), 1);
  snapshot_.limits.most_nodes = 2;
  EXPECT_NEAR(Deadlines(snapshot_).least_seconds(item).value(),
              ninety_percent({.nodes = 2, .gpus_per_node = 4}), 1);
}

TEST_F(DeadlinesTest, WhatRunsIsForecastByWhatIsLeftAtItsOwnWidth) {
  PlanItem& item = add(kToday + 1);
  item.state = ItemState::kActive;
  item.width = Width{.gpus_per_node = 4};
  item.started = kToday - kAnHour;
  item.first_job = true;
  EXPECT_NEAR(Deadlines(snapshot_).least_seconds(item).value(),
              ninety_percent(*item.width) - kAnHour, 1);
  item.waits = true;
  EXPECT_NEAR(Deadlines(snapshot_).least_seconds(item).value(), ninety_percent(*item.width), 1);
  item.first_job = false;
  EXPECT_FALSE(Deadlines(snapshot_).least_seconds(item)) << "part of it may have been done before";
}

TEST_F(DeadlinesTest, ThePlanSaysOfItemsWithADeadlineWhenTheyAreDoneAtTheEarliest) {
  add();
  add(kToday + kAnHour);
  add(kToday + kAnHour, 1);
  add(kToday + kAnHour, -1).state = ItemState::kHeld;
  const Plan made = plan(snapshot_);
  ASSERT_EQ(made.outlooks.size(), 3u);
  EXPECT_EQ(made.outlooks[0].item_id, 2);
  EXPECT_NEAR(static_cast<double>(made.outlooks[0].done_by), kToday + ninety_percent(Width{}), 1);
  EXPECT_EQ(made.outlooks[1].done_by, 0) << "the time of its search is not known";
  EXPECT_EQ(made.outlooks[2].done_by, 0);
}

}  // namespace
}  // namespace scheduler
