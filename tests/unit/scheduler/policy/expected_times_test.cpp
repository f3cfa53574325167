#include "scheduler/policy/expected_times.h"

#include <gtest/gtest.h>

#include "scheduler/policy/policy.h"
#include "tests/unit/scheduler/policy/decided.h"
#include "tests/unit/scheduler/policy/example_cluster.h"

namespace scheduler {
namespace {

using db::ItemState;
using db::Priority;

class ExpectedTimesTest : public testing::Test {
 protected:
  ExpectedTimesTest() {
    snapshot_.now = kNow;
    snapshot_.expects_times = true;
    snapshot_.kinds = {{.template_id = 1, .image_width = 4096, .image_height = 4096},
                       {.template_id = 2, .image_width = 4096, .image_height = 4096}};
    // 16 GPU hours, and what is not known.
    snapshot_.times = {SearchTime{.work = kLong, .model = example_model()}, std::nullopt};
    snapshot_.limits = {.slots = 2, .width = Width{.gpus_per_node = 0}};
  }
  // The cluster of the worked examples.
  void on_the_example_cluster() {
    const Width node{.gpus_per_node = 4};
    const Width all{.nodes = kExampleNodes, .gpus_per_node = 4};
    snapshot_.limits = {.slots = 1000, .queues = true, .max_pending = 4};
    snapshot_.limits.width = Width{};
    snapshot_.limits.menu = widths_of(4, kExampleNodes);
    snapshot_.limits.classes = {{Priority::kUrgent, {Width{}, all, all, 0.50}},
                                {Priority::kNormal, {Width{}, node, node, 0.97}},
                                {Priority::kLow, {Width{}, Width{}, node, 0.98}}};
    snapshot_.gpus = GpuForecast{.likely = idle(), .late = idle()};
  }
  PlanItem& add(Priority priority = Priority::kNormal) {
    const auto id = static_cast<int64_t>(snapshot_.items.size()) + 1;
    snapshot_.items.push_back(
        {.id = id, .priority = priority, .kind = 0, .created = id, .owner = 1});
    return snapshot_.items.back();
  }
  PlanItem& add_running(int64_t since) {
    PlanItem& item = add();
    item.state = ItemState::kActive;
    item.width = Width{.gpus_per_node = snapshot_.limits.queues ? 1 : 0};
    item.started = kNow - since;
    item.first_job = item.stoppable = true;
    ++snapshot_.busy_slots;
    return item;
  }
  static constexpr int64_t kNow = 1'000'000;
  static constexpr int32_t kOneGpu = 57635;  // seconds of a search: 960.6 minutes

  QueueSnapshot snapshot_;
};

TEST_F(ExpectedTimesTest, ItemsFollowEachOtherOnTheSlotsOfThisMachine) {
  add_running(1000);
  for (int i = 0; i < 3; ++i) add();
  const Plan made = plan(snapshot_);
  const int32_t first_free = kOneGpu - 1000;
  EXPECT_EQ(made.decisions[0].starts_in, 0);
  EXPECT_EQ(made.decisions[0].done_in, first_free);
  EXPECT_EQ(made.decisions[1].starts_in, 0) << "the other slot";
  EXPECT_EQ(made.decisions[2].starts_in, first_free);
  EXPECT_EQ(made.decisions[3].starts_in, kOneGpu);
  EXPECT_EQ(made.decisions[3].done_in, 2 * kOneGpu);
  EXPECT_EQ(made.queue.done_in, 2 * kOneGpu);
  EXPECT_EQ(made.queue.unknown, 0);
}

TEST_F(ExpectedTimesTest, ASlotOfThisMachineMayHaveSeveralGpus) {
  snapshot_.limits = {.slots = 1, .width = Width{.gpus_per_node = 4}};
  for (int i = 0; i < 2; ++i) add();
  const Plan made = plan(snapshot_);
  EXPECT_EQ(made.queue.unknown, 0);
  EXPECT_EQ(made.decisions[0].starts_in, 0);
  EXPECT_LT(made.decisions[0].done_in, kOneGpu / 3);
  EXPECT_EQ(made.decisions[1].starts_in, made.decisions[0].done_in);
}

TEST_F(ExpectedTimesTest, ABacklogIsDoneAsInTheWorkedExample) {
  on_the_example_cluster();
  for (int i = 0; i < 500; ++i) add(Priority::kLow);
  const Plan made = plan(snapshot_);
  EXPECT_EQ(made.queue.done_in, 8 * kOneGpu) << "128.1 hours";
  EXPECT_EQ(made.decisions[63].starts_in, 0);
  EXPECT_EQ(made.decisions[64].starts_in, kOneGpu);
}

TEST_F(ExpectedTimesTest, AShortQueueWidensAndUrgentItemsGoFirst) {
  on_the_example_cluster();
  for (int i = 0; i < 3; ++i) add();
  EXPECT_NEAR(static_cast<double>(plan(snapshot_).queue.done_in), 4.05 * kHour, 36);
  add(Priority::kUrgent);
  const Plan made = plan(snapshot_);
  EXPECT_NEAR(made.decisions[3].done_in, 1001, 1) << "the whole cluster, as in the worked example";
  EXPECT_EQ(made.decisions[0].starts_in, made.decisions[3].done_in);
}

TEST_F(ExpectedTimesTest, WhatWaitsInTheClusterStartsWhenItsForecastSays) {
  on_the_example_cluster();
  PlanItem& item = add_running(0);
  item.waits = true;
  item.started = 0;
  EXPECT_EQ(plan(snapshot_).decisions[0].done_in, -1);
  EXPECT_EQ(plan(snapshot_).queue.unknown, 1);
  snapshot_.gpus->starts[item.id] = 500;
  const Plan made = plan(snapshot_);
  EXPECT_EQ(made.decisions[0].starts_in, 500);
  EXPECT_EQ(made.decisions[0].done_in, 500 + kOneGpu);
}

// Its GPU is free for what is more urgent at the end of the segment, and for what waits behind it
// when its search is done.
TEST_F(ExpectedTimesTest, ASearchInSegmentsGoesOnBeforeWhatWaitsBehindIt) {
  on_the_example_cluster();
  snapshot_.limits.menu = {Width{}};
  PlanItem& item = add_running(600);
  snapshot_.gpus->likely = snapshot_.gpus->late = {NodeForecast{3000}};
  snapshot_.gpus->segments[item.id] = 3600;
  add();
  add(Priority::kUrgent);
  // Each of the 16 segments after the first begins anew with 35 s.
  constexpr int32_t kInSegments = kOneGpu + 16 * 35;
  const Plan made = plan(snapshot_);
  EXPECT_EQ(made.decisions[2].starts_in, 3000) << "urgent";
  EXPECT_EQ(made.decisions[0].done_in, kOneGpu + kInSegments - 600);
  EXPECT_EQ(made.decisions[1].starts_in, kOneGpu + kInSegments - 600);
  snapshot_.gpus->segments.clear();
  snapshot_.gpus->likely = {NodeForecast{kOneGpu - 600}};
  EXPECT_EQ(plan(snapshot_).decisions[0].done_in, kOneGpu - 600);
}

TEST_F(ExpectedTimesTest, AWaitingSearchIsExpectedToRunInSegmentsUnlessItIsUrgent) {
  on_the_example_cluster();
  snapshot_.limits.menu = {Width{}};
  snapshot_.limits.segment = 3600;
  add();
  add(Priority::kUrgent);
  const Plan made = plan(snapshot_);
  EXPECT_EQ(made.decisions[0].done_in, kOneGpu + 16 * 35);
  EXPECT_EQ(made.decisions[1].done_in, kOneGpu);
}

TEST_F(ExpectedTimesTest, ItemsThatAFloorLetsGoFirstAreExpectedWithTheirOwnWidths) {
  on_the_example_cluster();
  snapshot_.limits.floors = {{Priority::kLow, 0.05}};
  snapshot_.limits.max_pending = 1;
  for (int i = 0; i < 3; ++i) add(Priority::kUrgent);
  add(Priority::kLow);
  const Plan made = plan(snapshot_);
  ASSERT_EQ(made.starts.front().item_id, 4) << "by the floor";
  EXPECT_EQ(made.decisions[3].done_in - made.decisions[3].starts_in, kOneGpu);
  EXPECT_NEAR(made.decisions[0].done_in, 1001, 1) << "the whole cluster";
}

TEST_F(ExpectedTimesTest, WhatIsNotKnownStaysUnknownAndIsCounted) {
  add_running(1000);
  add().kind = 1;
  add().kind = -1;
  add().state = ItemState::kHeld;
  add().unread = true;
  const Plan made = plan(snapshot_);
  for (size_t i = 1; i < made.decisions.size(); ++i) EXPECT_EQ(made.decisions[i].done_in, -1) << i;
  EXPECT_EQ(made.queue.unknown, 3) << "what is held is not waited for";
  EXPECT_EQ(made.queue.done_in, kOneGpu - 1000);
}

TEST_F(ExpectedTimesTest, NothingStartsWhileSubmissionsArePausedOrTheGpusAreNotKnown) {
  add();
  snapshot_.pause_reason = "maintenance";
  EXPECT_EQ(plan(snapshot_).queue.unknown, 1);
  snapshot_.pause_reason.clear();
  EXPECT_EQ(plan(snapshot_).queue.unknown, 0);
  snapshot_.limits.queues = true;
  EXPECT_EQ(plan(snapshot_).queue.unknown, 1);
}

TEST_F(ExpectedTimesTest, ASlotWithAJobOfUnknownLengthIsNotCountedOn) {
  add_running(0).kind = 1;
  add();
  add();
  const Plan made = plan(snapshot_);
  EXPECT_EQ(made.decisions[2].starts_in, kOneGpu);
}

TEST_F(ExpectedTimesTest, ASearchThatTakesLongerThanExpectedIsDoneAnyMoment) {
  add_running(2 * kOneGpu);
  EXPECT_EQ(plan(snapshot_).decisions[0].done_in, 0);
}

TEST_F(ExpectedTimesTest, TheFastestSearchOfEachKindIsKeptForNewItems) {
  on_the_example_cluster();
  add();
  const Plan made = plan(snapshot_);
  ASSERT_EQ(made.fastest.size(), 2U);
  EXPECT_GT(made.fastest[0].seconds[static_cast<size_t>(Priority::kNormal)], 4 * kHour);
  EXPECT_LT(made.fastest[0].seconds[static_cast<size_t>(Priority::kUrgent)], kHour);
  EXPECT_EQ(made.fastest[1].seconds, ByClass{});
}

}  // namespace
}  // namespace scheduler
