// A node for the last items of a backlog, and fewer GPUs for an item that was demoted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/policy/decided.h"
#include "tests/unit/scheduler/policy/example_limits.h"

namespace scheduler {
namespace {

using db::ItemState;
using db::Priority;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kSpareTime = 1'000'000;

class SpareWidthsTest : public testing::Test {
 protected:
  SpareWidthsTest() {
    snapshot_.now = kSpareTime;
    snapshot_.limits = example_limits();
    snapshot_.limits.classes[Priority::kUrgent].cap = kFourNodes;
    snapshot_.times = {SearchTime{.work = kLong, .model = example_model()},
                       SearchTime{.work = kHour / 2, .model = example_model()}};
    set_free(16);
  }
  // So many nodes are free and the others busy for ten hours.
  void set_free(int nodes) {
    ClusterForecast cluster = idle();
    for (int node = nodes; node < kExampleNodes; ++node) {
      cluster[static_cast<size_t>(node)] = NodeForecast(4, 10 * kHour);
    }
    snapshot_.gpus = GpuForecast{cluster, cluster};
  }
  PlanItem& add(Priority priority) {
    const auto id = static_cast<int64_t>(snapshot_.items.size()) + 1;
    snapshot_.items.push_back({.id = id, .priority = priority, .kind = 0, .created = id});
    return snapshot_.items.back();
  }
  PlanItem& add_running(Priority priority, const Width& width) {
    PlanItem& item = add(priority);
    item.state = ItemState::kActive;
    item.width = width;
    item.stoppable = true;
    item.started = kSpareTime - 600;
    return item;
  }
  void add_short(int count) {
    for (int i = 0; i < count; ++i) add(Priority::kNormal).kind = 1;
  }
  std::vector<Width> widths() const {
    std::vector<Width> widths;
    for (const JobStart& start : plan(snapshot_).starts) widths.push_back(start.width);
    return widths;
  }

  QueueSnapshot snapshot_;
};

TEST_F(SpareWidthsTest, TheLastLowItemsOfABacklogGetFreeNodes) {
  add_running(Priority::kLow, kNarrow);
  add(Priority::kLow);
  add(Priority::kLow);
  set_free(1);
  EXPECT_THAT(widths(), testing::ElementsAre(kOneNode, kNarrow)) << "only one node is free";
  EXPECT_THAT(decided(snapshot_)[1].explanation,
              HasSubstr("a whole node, which its class may have while nobody else waits"));
}

TEST_F(SpareWidthsTest, AFewLowItemsThatAreNoEndOfABacklogGetAGpuEach) {
  for (int i = 0; i < 3; ++i) add(Priority::kLow);
  EXPECT_THAT(widths(), Each(kNarrow));
}

TEST_F(SpareWidthsTest, ALowItemThatJustCameIsNoEndOfABacklog) {
  add_running(Priority::kLow, kNarrow);
  add(Priority::kLow).created = kSpareTime;
  EXPECT_THAT(widths(), Each(kNarrow));
}

TEST_F(SpareWidthsTest, LowItemsStayNarrowWhileAnybodyElseWaits) {
  add_running(Priority::kLow, kNarrow);
  add(Priority::kLow);
  snapshot_.gpus->others_waiting = 1;
  EXPECT_THAT(widths(), Each(kNarrow));
  snapshot_.gpus->others_waiting = 0;
  snapshot_.pending[Priority::kNormal] = 1;
  EXPECT_THAT(widths(), Each(kNarrow));
  snapshot_.pending.clear();
  EXPECT_THAT(widths(), Each(kOneNode));
  snapshot_.limits.max_pending = 1;
  add(Priority::kHigh);
  EXPECT_THAT(widths(), testing::Contains(kNarrow)) << "an item of a higher class is ready";
}

TEST_F(SpareWidthsTest, ASearchThatWastesANodeStaysNarrow) {
  snapshot_.times[0]->work = 600;
  add_running(Priority::kLow, kNarrow);
  add(Priority::kLow);
  EXPECT_THAT(widths(), Each(kNarrow));
}

TEST_F(SpareWidthsTest, ADemotedItemIsStoppedForANarrowerJobWhereOthersGainByIt) {
  set_free(0);
  add_running(Priority::kNormal, kFourNodes);
  EXPECT_THAT(widened(snapshot_), IsEmpty()) << "nobody waits";
  add_short(12);
  const Decided first = decided(snapshot_).front();
  EXPECT_EQ(first.verdict, Verdict::kWiden);
  EXPECT_EQ(first.width, kOneNode);
  EXPECT_THAT(
      first.explanation,
      AllOf(HasSubstr("has 4 nodes (16 GPUs), more than class normal may have"),
            HasSubstr("need not wait for its end"), HasSubstr("stopped with a checkpoint")));
}

TEST_F(SpareWidthsTest, TheSameWaitingItemsAreNoReasonToStopTwoDemotedJobs) {
  set_free(0);
  add_running(Priority::kNormal, kFourNodes);
  add_running(Priority::kNormal, kFourNodes);
  add_short(12);
  EXPECT_THAT(widened(snapshot_), testing::ElementsAre(1)) << "it frees twelve GPUs";
  snapshot_.items[0].stop_asked = true;
  EXPECT_THAT(widened(snapshot_), IsEmpty());
}

// Sixteen hours on one GPU cost more than an hour that fifteen others would gain.
TEST_F(SpareWidthsTest, ADemotedItemStaysWhereOthersGainLessThanItLoses) {
  set_free(0);
  add_running(Priority::kNormal, kFourNodes);
  for (int i = 0; i < 40; ++i) add(Priority::kNormal);
  EXPECT_THAT(widened(snapshot_), IsEmpty());
}

TEST_F(SpareWidthsTest, ADemotedItemStaysWhereItIsAlmostDone) {
  set_free(0);
  PlanItem& item = add_running(Priority::kNormal, kFourNodes);
  item.started = kSpareTime - 3600;
  add_short(12);
  EXPECT_THAT(widened(snapshot_), IsEmpty());
}

TEST_F(SpareWidthsTest, WhatIsUrgentOrWithinItsCapIsNotNarrowed) {
  set_free(0);
  add_running(Priority::kUrgent, kFourNodes);
  add_running(Priority::kNormal, kOneNode);
  add_short(12);
  EXPECT_THAT(widened(snapshot_), IsEmpty());
}

}  // namespace
}  // namespace scheduler
