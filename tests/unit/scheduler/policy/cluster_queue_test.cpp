// What is put into the queue of a cluster that has one.

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

// Slurm knows nothing of the classes: what is in its queue first gets the GPUs first.
TEST(ClusterQueue, NothingIsPutInTheClustersQueueBehindAFullHigherClassUnlessAGpuIsFree) {
  QueueSnapshot snapshot =
      snapshot_of({item(1, Priority::kHigh), item(2, Priority::kLow),
                   asking(item(3, Priority::kLow), {.own_options = true, .size = "time=1-0"})},
                  1000);
  snapshot.limits = example_limits();
  snapshot.limits.max_pending = 4;
  snapshot.pending[Priority::kHigh] = 4;
  const ClusterForecast busy(kExampleNodes, NodeForecast(4, 600.0));
  snapshot.gpus = GpuForecast{.likely = busy, .late = busy};
  EXPECT_THAT(started(snapshot), ElementsAre(3)) << "its own size has no part in this";
  EXPECT_THAT(explanation(snapshot, 2), HasSubstr("waits: 1 item before it (1 high)"));
  snapshot.gpus->likely[7][2] = 0;
  snapshot.gpus->free_now = 1;
  EXPECT_THAT(started(snapshot), ElementsAre(2, 3)) << "a GPU is free";
  snapshot.gpus->likely[7][2] = 600;
  snapshot.pending[Priority::kHigh] = 3;
  EXPECT_THAT(started(snapshot), ElementsAre(1, 2, 3)) << "nothing of class high is left";
  snapshot.pending[Priority::kHigh] = 4;
  snapshot.gpus.reset();
  EXPECT_THAT(started(snapshot), ElementsAre(2, 3)) << "the GPUs are not known";
}

// Jobs that will start at once wait for nothing: the higher class gets all GPUs that are free.
TEST(ClusterQueue, BeyondThoseThatMayWaitAsManyJobsAreSubmittedAsGpusAreFree) {
  QueueSnapshot snapshot = snapshot_of({}, 1000);
  snapshot.limits = example_limits();
  snapshot.limits.max_pending = 0;
  snapshot.limits.classes.clear();
  snapshot.limits.width = kNarrow;
  for (int64_t id = 1; id <= 12; ++id) {
    snapshot.items.push_back(item(id, id <= 8 ? Priority::kHigh : Priority::kLow));
  }
  EXPECT_EQ(started(snapshot).size(), 8U) << "four of each class, while no GPU is known to be free";
  ClusterForecast free(kExampleNodes, NodeForecast(4, 600.0));
  for (size_t node = 0; node < 7; ++node) free[node][0] = 0;
  snapshot.gpus = GpuForecast{.likely = free, .late = free, .free_now = 7};
  EXPECT_THAT(started(snapshot), ElementsAre(1, 2, 3, 4, 5, 6, 7));
  // Jobs that wait, whatever they wait for, are taken to want them.
  snapshot.items.front().state = ItemState::kActive;
  snapshot.items.front().waits = true;
  snapshot.items.front().width = Width{.gpus_per_node = 2};
  EXPECT_THAT(started(snapshot), ElementsAre(2, 3, 4, 5, 6));
  snapshot.limits.max_pending = 3;
  EXPECT_THAT(started(snapshot), ElementsAre(2, 3, 4, 9, 10)) << "the site sets the pace";
}

TEST(ClusterQueue, InTheClustersQueueWaitFourJobsOfAClassOrAQuarterOfThoseThatRun) {
  QueueSnapshot snapshot = queueing(many(30, Priority::kNormal), 100);
  EXPECT_EQ(started(snapshot).size(), 4u);
  snapshot.pending[Priority::kNormal] = 3;
  EXPECT_EQ(started(snapshot).size(), 1u);
  snapshot.running = 64;
  EXPECT_EQ(started(snapshot).size(), 13u);
  snapshot.limits.max_pending = 5;
  EXPECT_EQ(started(snapshot).size(), 2u) << "the site's own number";
  snapshot.limits.queues = false;
  EXPECT_EQ(started(snapshot).size(), 30u);
}

TEST(ClusterQueue, AClassWhoseShareWaitsInTheClusterLetsTheOthersPass) {
  auto items = many(6, Priority::kUrgent);
  for (const PlanItem& low : many(6, Priority::kLow, 11)) items.push_back(low);
  const QueueSnapshot snapshot = queueing(items, 100);
  EXPECT_THAT(started(snapshot), ElementsAre(1, 2, 3, 4, 11, 12, 13, 14));
  EXPECT_EQ(explanation(snapshot, 5),
            "waits: 4 jobs of class urgent wait in Slurm already; next in the queue; 4 of 100 jobs "
            "in Slurm");
  EXPECT_EQ(explanation(snapshot, 11),
            "first of 6 ready items of class low; each higher class already has as many jobs "
            "waiting in Slurm as it may; 4 of 100 jobs in Slurm, so it gets 1 GPU");
}

TEST(ClusterQueue, ItemsGetTheSitesWidth) {
  QueueSnapshot snapshot = queueing(many(1, Priority::kNormal), 8);
  snapshot.limits.width = {.nodes = 4, .gpus_per_node = 4};
  EXPECT_EQ(decided(snapshot)[0].width, snapshot.limits.width);
  EXPECT_THAT(decided(snapshot)[0].explanation, HasSubstr("so it gets 4 nodes (16 GPUs)"));
}

}  // namespace
}  // namespace scheduler
